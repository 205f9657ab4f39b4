import type {
  ActionView,
  HardwareView,
  JobView,
  MachineView,
  WorkflowState,
  WorkflowView,
} from "../../fleet/boot-plane.ts";
import { at, type JsonObject, listAt, objectOf, secondsAt, textAt, textsAt, timeAt } from "./json.ts";
import { identity } from "./owned.ts";

const WORKFLOW_STATES: readonly string[] = [
  "",
  "PREPARING",
  "PENDING",
  "RUNNING",
  "POST",
  "SUCCESS",
  "FAILED",
  "TIMEOUT",
];
const ACTION_STATES: readonly string[] = ["PENDING", "RUNNING", "SUCCESS", "FAILED", "TIMEOUT"];

/** Reads a Hardware (tinkerbell.org/v1alpha1). */
export function hardwareView(object: JsonObject, deviceId: number): HardwareView {
  const allowPxe = listAt(object, "spec", "interfaces").some((entry) => at(entry, "netboot", "allowPXE") === true);
  return { ...identity(object), deviceId, allowPxe, spec: at(object, "spec") };
}

/** Reads a Machine (bmc.tinkerbell.org/v1alpha1); a power state that is absent or unheard of is `unknown`. */
export function machineView(object: JsonObject, deviceId: number): MachineView {
  const power = textAt(object, "status", "powerState");
  return {
    ...identity(object),
    deviceId,
    powerState: power === "on" || power === "off" ? power : "unknown",
    contactable: conditionOf(object, "Contactable") === "True",
    spec: at(object, "spec"),
  };
}

/** Reads a Workflow; `tasks` are Rufio's Tasks, for the BMC's own words about a boot Job. */
export function workflowView(object: JsonObject, deviceId: number, tasks: readonly JsonObject[]): WorkflowView {
  const state = textAt(object, "status", "state");
  const known = WORKFLOW_STATES.includes(state);
  return {
    ...identity(object),
    deviceId,
    kind: textAt(object, "metadata", "labels", "fleetd.dev/run-kind"),
    requestId: textAt(object, "metadata", "labels", "fleetd.dev/request-id"),
    disabled: at(object, "spec", "disabled") === true,
    state: known ? (state as WorkflowState) : "",
    actions: listAt(object, "status", "tasks").flatMap((task) => listAt(task, "actions").map(actionView)),
    templateRef: textAt(object, "spec", "templateRef"),
    timeoutMs: secondsAt(object, "status", "globalTimeout") * 1000,
    agentId: textAt(object, "status", "agentID"),
    problem: known ? workflowProblem(object, tasks) : `unknown state ${state.slice(0, 40)}`,
    bootJob: textAt(object, "spec", "bootOptions", "bootMode") === "" ? null : bootJob(object),
  };
}

/** Reads a Job; `tasks` are Rufio's Tasks, of this Job or any other. */
export function jobView(object: JsonObject, deviceId: number, tasks: readonly JsonObject[]): JobView {
  const { name, uid, createdAtMs } = identity(object);
  const mine = tasks.filter((task) => textAt(task, "metadata", "labels", "owner-name") === name);
  const state = jobState(object);
  const expected = state === "completed" ? listAt(object, "spec", "tasks").length : 1;
  // A Task that never reached its BMC has no startTime.
  const startedAtMs = (task: JsonObject) => timeAt(task, "status", "startTime") ?? identity(task).createdAtMs;
  const isOwn = (task: JsonObject) => ownedBy(task, uid) && startedAtMs(task) >= createdAtMs;
  return {
    ...identity(object),
    deviceId,
    machine: textAt(object, "spec", "machineRef", "name"),
    state,
    tasksAreOwn: mine.length >= expected && mine.every(isOwn),
    problem: mine.map(taskFailure).find((words) => words !== "") ?? failureOf(object, "Failed"),
  };
}

function jobState(object: JsonObject): JobView["state"] {
  // Running stays True after the end.
  if (conditionOf(object, "Failed") === "True") return "failed";
  return conditionOf(object, "Completed") === "True" ? "completed" : "open";
}

function actionView(action: unknown): ActionView {
  const state = textAt(action, "state");
  return {
    name: textAt(action, "name"),
    image: textAt(action, "image"),
    command: textsAt(action, "command"),
    state: ACTION_STATES.includes(state) ? (state as ActionView["state"]) : "PENDING",
    message: textAt(action, "message"),
    startedAtMs: timeAt(action, "executionStart"),
    stoppedAtMs: timeAt(action, "executionStop"),
  };
}

function bootJob(object: JsonObject): string {
  const [job] = Object.keys(objectOf(at(object, "status", "bootOptions", "jobs")));
  return job ?? `netboot-${textAt(object, "metadata", "name")}`;
}

function failureOfWorkflow(object: JsonObject): unknown {
  return listAt(object, "status", "conditions").find(
    (condition) =>
      textAt(condition, "status") === "False" ||
      (textAt(condition, "type").endsWith("Failed") && textAt(condition, "status") === "True"),
  );
}

/** The boot Job that a Workflow failed by, whose Tasks have the BMC's words; else null. */
export function failedBootJob(object: JsonObject): string | null {
  return textAt(failureOfWorkflow(object), "type") === "BootJobFailed" ? bootJob(object) : null;
}

function workflowProblem(object: JsonObject, tasks: readonly JsonObject[]): string {
  const failure = failureOfWorkflow(object);
  if (failure === undefined) return "";
  const words = textAt(failure, "message") || textAt(failure, "type");
  if (textAt(failure, "type") !== "BootJobFailed") return words;
  const job = bootJob(object);
  const uid = textAt(object, "status", "bootOptions", "jobs", job, "uid");
  const own = tasks.filter((task) => textAt(task, "metadata", "labels", "owner-name") === job && ownedBy(task, uid));
  const bmc = own.map(taskFailure).find((text) => text !== "");
  return bmc === undefined ? words : `${words}: ${bmc}`;
}

function taskFailure(task: JsonObject): string {
  return failureOf(task, "Failed");
}

function failureOf(object: JsonObject, type: string): string {
  const found = listAt(object, "status", "conditions").find(
    (condition) => textAt(condition, "type") === type && textAt(condition, "status") === "True",
  );
  return found === undefined ? "" : textAt(found, "message") || type;
}

function ownedBy(task: JsonObject, uid: string): boolean {
  return listAt(task, "metadata", "ownerReferences").some((owner) => uid !== "" && textAt(owner, "uid") === uid);
}

function conditionOf(object: JsonObject, type: string): string {
  return textAt(
    listAt(object, "status", "conditions").find((condition) => textAt(condition, "type") === type),
    "status",
  );
}
