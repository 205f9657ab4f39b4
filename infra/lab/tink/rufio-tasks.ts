import type { LabClient } from "../kubernetes/client.ts";
import { at, type JsonObject, type KubernetesObject, objectOf, textAt } from "../kubernetes/json.ts";
import { secondsNow } from "../kubernetes/object-store.ts";
import { type BmcConnection, callBmc, connectionOf } from "./bmc-client.ts";
import type { Paths } from "./paths.ts";
import { changeStatus, conditionOf, withCondition } from "./status-writer.ts";

const DESIRED: Readonly<Record<string, string>> = { on: "on", off: "off", soft: "off", cycle: "on", reset: "on" };

const SET_BOOT = "failed to set boot device";
const SET_POWER = "failed to set power state";

export interface TaskSettings {
  /** Where the lab's BMC responders are; a Machine with an rpc consumerURL names its own. */
  readonly bmcUrl: string;
  /** How long a Task waits for the power state that it asked for. */
  readonly taskTimeoutMs: number;
}

/** One step of a Task: send its command once, then look until the power state is the wanted one. */
export async function reconcileTask(
  client: LabClient,
  paths: Paths,
  settings: TaskSettings,
  task: KubernetesObject,
): Promise<void> {
  if (conditionOf(task, "Completed") !== "" || conditionOf(task, "Failed") !== "") return;
  const path = `${paths.tasks}/${task.metadata.name}`;
  const end = (type: string, more: JsonObject) =>
    changeStatus(client, path, (status) => ({
      ...status,
      conditions: withCondition(status, { type, status: "True", ...more }),
      ...(type === "Completed" && { completionTime: secondsNow() }),
    }));
  const bmc = await connectionOf(client, paths, settings.bmcUrl, objectOf(at(task, "spec", "connection")));
  const action = objectOf(at(task, "spec", "task"));
  if (textAt(task, "status", "startTime") === "") {
    const opened = await callBmc(bmc, "getPowerState", {}).catch(connectError);
    if (opened instanceof Error && opened.cause === "connection") {
      await end("Failed", { message: `Failed to connect to BMC: ${opened.message}` });
      return;
    }
    await changeStatus(client, path, (status) => ({ ...status, startTime: secondsNow() }));
    const problem = await sendCommand(bmc, action);
    if (problem !== "") await end("Failed", { message: problem });
    else if (textAt(action, "powerAction") === "") await end("Completed", {});
    return;
  }
  const state = await callBmc(bmc, "getPowerState", {}).catch(connectError);
  const startedAtMs = Date.parse(textAt(task, "status", "startTime"));
  if (state === DESIRED[textAt(action, "powerAction")] || textAt(action, "powerAction") === "status") {
    await end("Completed", {});
  } else if (Date.now() - startedAtMs > settings.taskTimeoutMs) {
    const words = state instanceof Error ? state.message : `power state is ${state}`;
    await end("Failed", { message: `task timed out: ${words}` });
  }
}

async function sendCommand(bmc: BmcConnection, action: JsonObject): Promise<string> {
  const power = textAt(action, "powerAction");
  const oneTime = objectOf(action.oneTimeBootDeviceAction);
  try {
    if (power !== "" && power !== "status") await callBmc(bmc, "setPowerState", { state: power });
    else if (power === "") {
      const [device] = Array.isArray(oneTime.device) ? oneTime.device : [];
      const efiBoot = oneTime.efiBoot === true;
      await callBmc(bmc, "setBootDevice", { device, persistent: false, efiBoot });
    }
    return "";
  } catch (error) {
    const name = power === "" ? "OneTimeBootDeviceAction" : "PowerAction";
    const problems = [error instanceof Error ? error.message : "failed", power === "" ? SET_BOOT : SET_POWER];
    const words = problems.map((problem) => `\t* ${problem}\n`).join("");
    // bmclib tells what each of its providers said, a line each.
    return `failed to perform ${name}: ${problems.length} errors occurred:\n${words}\n`;
  }
}

function connectError(error: unknown): Error {
  return error instanceof Error ? error : new Error("failed");
}
