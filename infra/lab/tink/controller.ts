import { ClientError, type LabClient } from "../kubernetes/client.ts";
import { at, type JsonObject, type KubernetesObject, listAt, objectOf, textAt } from "../kubernetes/json.ts";
import { secondsNow } from "../kubernetes/object-store.ts";
import type { Paths } from "./paths.ts";
import { renderWorkflow } from "./render-workflow.ts";
import { changeStatus, conditionOf, withCondition } from "./status-writer.ts";
import { RenderError } from "./template.ts";

/**
 * One pass of the Tink controller over all Workflows.
 * @see facts/kubernetes-tinkerbell.md 2, "Workflow"
 */
export async function reconcileWorkflows(client: LabClient, paths: Paths, namespace: string): Promise<void> {
  for (const workflow of await client.list(paths.workflows)) {
    if (at(workflow, "spec", "disabled") === true && textAt(workflow, "status", "state") === "") {
      await nameAgent(client, paths, workflow);
      continue;
    }
    await reconcile(client, paths, namespace, workflow);
  }
}

async function reconcile(
  client: LabClient,
  paths: Paths,
  namespace: string,
  workflow: KubernetesObject,
): Promise<void> {
  switch (textAt(workflow, "status", "state")) {
    case "":
      return render(client, paths, workflow);
    case "PREPARING":
      return prepare(client, paths, namespace, workflow);
    case "RUNNING":
      return startClock(client, paths, workflow);
    case "POST":
      return finish(client, paths, workflow);
  }
}

/** A disabled Workflow is rendered too, and all that is kept of it is whose it would be. */
async function nameAgent(client: LabClient, paths: Paths, workflow: KubernetesObject): Promise<void> {
  if (textAt(workflow, "status", "agentID") !== "") return;
  try {
    const { agentID } = await renderWorkflow(client, paths, workflow);
    await changeStatus(client, pathOf(paths, workflow), (status) => ({ ...status, agentID }));
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
  }
}

async function render(client: LabClient, paths: Paths, workflow: KubernetesObject): Promise<void> {
  const path = pathOf(paths, workflow);
  try {
    const rendered = await renderWorkflow(client, paths, workflow);
    const options = objectOf(at(workflow, "spec", "bootOptions"));
    const prepares = textAt(options, "bootMode") !== "" || options.toggleAllowNetboot === true;
    await changeStatus(client, path, (status) => ({
      ...status,
      ...rendered,
      templateRendering: "successful",
      conditions: condition(status, "TemplateRenderedSuccess", "template rendered successfully"),
      ...(prepares ? { state: "PREPARING" } : pending(rendered.tasks)),
    }));
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    const { message } = error;
    if (textAt(listAt(workflow, "status", "conditions")[0], "message") === message) return;
    await changeStatus(client, path, () => ({
      templateRendering: "failed",
      conditions: [{ type: "TemplateRenderedSuccess", status: "False", reason: "Error", message, time: secondsNow() }],
    }));
  }
}

async function prepare(client: LabClient, paths: Paths, namespace: string, workflow: KubernetesObject): Promise<void> {
  const path = pathOf(paths, workflow);
  const options = objectOf(at(workflow, "spec", "bootOptions"));
  if (options.toggleAllowNetboot === true && conditionOf(workflow, "AllowNetbootTrue") === "") {
    await allowNetboot(client, paths, workflow, true);
    await changeStatus(client, path, (status) => ({
      ...status,
      bootOptions: { ...objectOf(status.bootOptions), allowNetboot: { toggledTrue: true } },
      conditions: condition(status, "AllowNetbootTrue", "set allowPXE to true"),
    }));
  }
  if (textAt(options, "bootMode") === "netboot") return bootJob(client, paths, namespace, workflow);
  await changeStatus(client, path, (status) => ({ ...status, ...pending(listAt(status, "tasks")) }));
}

async function bootJob(client: LabClient, paths: Paths, namespace: string, workflow: KubernetesObject): Promise<void> {
  const path = pathOf(paths, workflow);
  const name = `netboot-${workflow.metadata.name}`;
  const noted = objectOf(at(workflow, "status", "bootOptions", "jobs", name));
  const note = (status: JsonObject, more: JsonObject): JsonObject => ({
    ...objectOf(status.bootOptions),
    jobs: { [name]: { ...objectOf(at(status, "bootOptions", "jobs", name)), ...more } },
  });
  if (noted.existingJobDeleted !== true) {
    if ((await client.get(`${paths.jobs}/${name}`)) !== null) await client.call("DELETE", `${paths.jobs}/${name}`);
    const problem = await createBootJob(client, paths, namespace, workflow, name);
    await changeStatus(client, path, (status) =>
      problem === null
        ? {
            ...status,
            bootOptions: note(status, { existingJobDeleted: true }),
            conditions: condition(status, "BootJobSetupComplete", "job created", "Created"),
          }
        : { ...status, state: "FAILED", conditions: condition(status, "BootJobSetupFailed", problem, "Error") },
    );
    return;
  }
  const job = await client.get(`${paths.jobs}/${name}`);
  if (job === null || conditionOf(job, "Failed") === "True") {
    await changeStatus(client, path, (status) => ({
      ...status,
      state: "FAILED",
      bootOptions: note(status, job === null ? {} : { uid: job.metadata.uid }),
      conditions: condition(status, "BootJobFailed", job === null ? "job not found" : "job failed", "Error"),
    }));
  } else if (conditionOf(job, "Completed") === "True") {
    await changeStatus(client, path, (status) => ({
      ...status,
      bootOptions: { ...note(status, { uid: job.metadata.uid, complete: true }), allowNetboot: {} },
      conditions: condition(status, "BootJobComplete", "job completed"),
      ...pending(listAt(status, "tasks")),
    }));
  } else if (noted.uid === undefined) {
    await changeStatus(client, path, (status) => ({ ...status, bootOptions: note(status, { uid: job.metadata.uid }) }));
  }
}

/** Makes the netboot Job; answers the reason where it can't be made. */
async function createBootJob(
  client: LabClient,
  paths: Paths,
  namespace: string,
  workflow: KubernetesObject,
  name: string,
): Promise<string | null> {
  const hardware = await client.get(`${paths.hardware}/${textAt(workflow, "spec", "hardwareRef")}`);
  const machine = textAt(hardware, "spec", "bmcRef", "name");
  if (machine === "") return "hardware does not have a BMC reference";
  const efiBoot = listAt(hardware, "spec", "interfaces").some((entry) => at(entry, "dhcp", "uefi") === true);
  const { apiVersion, kind, metadata } = workflow;
  const mark = { "tink-controller-auto-created": "true" };
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
  try {
    await client.call("POST", paths.jobs, {
      apiVersion: "bmc.tinkerbell.org/v1alpha1",
      kind: "Job",
      metadata: { name, namespace, annotations: mark, labels: mark, ownerReferences: [owner] },
      spec: {
        machineRef: { name: machine, namespace },
        tasks: [
          { powerAction: "off" },
          { oneTimeBootDeviceAction: { device: ["pxe"], efiBoot } },
          { powerAction: "on" },
        ],
      },
    });
    return null;
  } catch (error) {
    if (error instanceof ClientError && error.status < 500) return error.message;
    throw error;
  }
}

/** The global timeout counts from the first action, and nothing here watches it: a report finds that it has passed. */
async function startClock(client: LabClient, paths: Paths, workflow: KubernetesObject): Promise<void> {
  const timeout = at(workflow, "status", "globalTimeout");
  if (typeof timeout !== "number" || textAt(workflow, "status", "globalExecutionStop") !== "") return;
  const stop = new Date(Date.now() + timeout * 1000).toISOString().replace(/\.\d{3}Z$/, "Z");
  await changeStatus(client, pathOf(paths, workflow), (status) => ({ ...status, globalExecutionStop: stop }));
}

async function finish(client: LabClient, paths: Paths, workflow: KubernetesObject): Promise<void> {
  const toggles = at(workflow, "spec", "bootOptions", "toggleAllowNetboot") === true;
  if (toggles) await allowNetboot(client, paths, workflow, false);
  await changeStatus(client, pathOf(paths, workflow), (status) => ({
    ...status,
    state: "SUCCESS",
    bootOptions: {
      ...objectOf(status.bootOptions),
      allowNetboot: toggles ? { toggledTrue: true, toggledFalse: true } : {},
    },
    ...(toggles && { conditions: condition(status, "AllowNetbootFalse", "set allowPXE to false") }),
  }));
}

async function allowNetboot(
  client: LabClient,
  paths: Paths,
  workflow: KubernetesObject,
  allow: boolean,
): Promise<void> {
  const path = `${paths.hardware}/${textAt(workflow, "spec", "hardwareRef")}`;
  const hardware = await client.get(path);
  const interfaces = listAt(hardware, "spec", "interfaces").map((entry) => ({
    ...objectOf(entry),
    netboot: { ...objectOf(at(entry, "netboot")), allowPXE: allow },
  }));
  if (hardware !== null) await client.call("PATCH", path, { spec: { interfaces } });
}

function pending(tasks: readonly unknown[]): JsonObject {
  const [task] = tasks;
  const action = listAt(task, "actions")[0];
  const currentState = {
    agentID: textAt(task, "agentID"),
    taskID: textAt(task, "id"),
    taskName: textAt(task, "name"),
    actionID: textAt(action, "id"),
    actionName: textAt(action, "name"),
    state: "PENDING",
  };
  return { state: "PENDING", currentState };
}

function condition(status: JsonObject, type: string, message: string, reason = "Complete"): JsonObject[] {
  return withCondition(status, { type, status: "True", reason, message }, "time");
}

function pathOf(paths: Paths, workflow: KubernetesObject): string {
  return `${paths.workflows}/${workflow.metadata.name}`;
}
