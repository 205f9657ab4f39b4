import type { HardwareManifest, JobManifest, MachineManifest, WorkflowManifest } from "../../fleet/boot-plane.ts";
import type { BootPlanePort } from "../../ports/boot-plane.ts";
import { isPortError } from "../../ports/error.ts";
import { type ClientOptions, createClient, type KubernetesClient } from "./client.ts";
import { at, type JsonObject, objectOf, textAt } from "./json.ts";
import { additions, mergePatch } from "./merge-patch.ts";
import { identity, ownerDevice, requireOwned, selectors } from "./owned.ts";
import { read, removeObject } from "./remove.ts";
import { failedBootJob, hardwareView, jobView, machineView, workflowView } from "./tinkerbell-views.ts";

/** Of so many owners their Tasks cost less when all are listed. */
const OWNERS_PER_SELECTOR = 100;

const PATHS = {
  Hardware: "tinkerbell.org/v1alpha1 hardware",
  Workflow: "tinkerbell.org/v1alpha1 workflows",
  Template: "tinkerbell.org/v1alpha1 templates",
  Machine: "bmc.tinkerbell.org/v1alpha1 machines",
  Job: "bmc.tinkerbell.org/v1alpha1 jobs",
  Task: "bmc.tinkerbell.org/v1alpha1 tasks",
};

export interface BootPlaneOptions extends ClientOptions {
  readonly namespace: string;
}

/**
 * Makes the boot plane's port over Tinkerbell's Kubernetes API.
 * @see facts/kubernetes-tinkerbell.md 2: v0.25.0, v1alpha1
 */
export function createBootPlane(options: BootPlaneOptions): BootPlanePort {
  const client = createClient("boot-plane", options);
  const path = (kind: keyof typeof PATHS, name?: string) => {
    const [group, plural] = PATHS[kind].split(" ");
    const collection = `/apis/${group}/namespaces/${encodeURIComponent(options.namespace)}/${plural}`;
    return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
  };
  const owned = async <T>(
    kind: keyof typeof PATHS,
    deviceIds: readonly number[] | undefined,
    view: (object: JsonObject, owner: number) => T,
  ): Promise<T[]> => {
    const wanted = deviceIds === undefined ? null : new Set(deviceIds);
    const ofFleetd = (object: JsonObject) => {
      const owner = ownerDevice(object);
      return owner !== null && (wanted === null || wanted.has(owner)) ? view(object, owner) : null;
    };
    const found: T[] = [];
    for (const labelSelector of selectors(deviceIds))
      for (const one of await client.views(path(kind), { labelSelector }, ofFleetd)) found.push(one);
    return found;
  };

  return {
    async objects(deviceIds) {
      const [hardware, workflows, machines, jobs] = await Promise.all([
        owned("Hardware", deviceIds, hardwareView),
        owned("Workflow", deviceIds, (object, owner) => withTasks(failedBootJob(object), object, owner, workflowView)),
        owned("Machine", deviceIds, machineView),
        owned("Job", deviceIds, (object, owner) => withTasks(identity(object).name, object, owner, jobView)),
      ]);
      const owners = [...workflows, ...jobs].flatMap(({ tasksOf }) => (tasksOf === null ? [] : [tasksOf]));
      const narrow =
        owners.length > OWNERS_PER_SELECTOR ? {} : { labelSelector: `owner-name in (${owners.join(",")})` };
      // Read last: a Job that was seen completed has its Tasks by now.
      const tasks = owners.length === 0 ? [] : await client.list(path("Task"), narrow);
      return {
        hardware,
        workflows: workflows.map(({ view }) => view(tasks)),
        machines,
        jobs: jobs.map(({ view }) => view(tasks)),
      };
    },
    apply: (manifest) => apply(client, path(manifest.kind), path(manifest.kind, manifest.metadata.name), manifest),
    create: (manifest) => create(client, path(manifest.kind), path(manifest.kind, manifest.metadata.name), manifest),
    async enableWorkflow(name, uid, resourceVersion) {
      requireOwned(client.port, await client.call("GET", path("Workflow", name)));
      await client.call("PATCH", path("Workflow", name), {
        body: { metadata: { uid, resourceVersion }, spec: { disabled: false } },
      });
    },
    remove: (kind, name, uid, resourceVersion) =>
      removeObject(client, path(kind, name), { uid, resourceVersion }, (object) => requireOwned(client.port, object)),
    async template(name) {
      const template = await read(client, path("Template", name));
      return template === null ? null : { data: textAt(template, "spec", "data") };
    },
  };
}

/** An object that is seen whole once the Tasks of the named Job are known, or at once: then nothing else of it is kept. */
interface Viewed<T> {
  readonly tasksOf: string | null;
  readonly view: (tasks: readonly JsonObject[]) => T;
}

function withTasks<T>(
  tasksOf: string | null,
  object: JsonObject,
  owner: number,
  view: (object: JsonObject, owner: number, tasks: readonly JsonObject[]) => T,
): Viewed<T> {
  if (tasksOf !== null) return { tasksOf, view: (tasks) => view(object, owner, tasks) };
  const seen = view(object, owner, []);
  return { tasksOf, view: () => seen };
}

type Manifest = HardwareManifest | MachineManifest | WorkflowManifest | JobManifest;

async function create(client: KubernetesClient, collection: string, path: string, manifest: Manifest): Promise<void> {
  try {
    await client.call("POST", collection, { body: manifest });
  } catch (error) {
    // The name is taken: by fleetd's own object, a conflict; by somebody else's, a person must act.
    if (isPortError(error, "conflict")) requireOwned(client.port, await client.call("GET", path), deviceOf(manifest));
    throw error;
  }
}

async function apply(client: KubernetesClient, collection: string, path: string, manifest: Manifest): Promise<void> {
  const stored = await read(client, path);
  if (stored === null) return create(client, collection, path, manifest);
  requireOwned(client.port, stored, deviceOf(manifest));
  const body = changes(stored, manifest);
  if (body !== null) await client.call("PATCH", path, { body });
}

function changes(stored: JsonObject, manifest: Manifest): JsonObject | null {
  const metadata = objectOf(at(stored, "metadata"));
  const labels = additions(objectOf(at(metadata, "labels")), manifest.metadata.labels);
  const annotations = additions(objectOf(at(metadata, "annotations")), manifest.metadata.annotations);
  const spec = mergePatch(objectOf(at(stored, "spec")), objectOf(manifest.spec));
  if (spec === null && Object.keys(labels).length + Object.keys(annotations).length === 0) return null;
  const { uid, resourceVersion } = identity(stored);
  return { metadata: { uid, resourceVersion, labels, annotations }, ...(spec !== null && { spec }) };
}

function deviceOf(manifest: Manifest): number | undefined {
  return ownerDevice(objectOf(manifest)) ?? undefined;
}
