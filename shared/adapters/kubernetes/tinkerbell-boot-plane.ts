import type { HardwareManifest, JobManifest, MachineManifest, WorkflowManifest } from "../../fleet/boot-plane.ts";
import type { BootPlanePort } from "../../ports/boot-plane.ts";
import { isPortError } from "../../ports/error.ts";
import { type ClientOptions, createClient, type KubernetesClient } from "./client.ts";
import { at, type JsonObject, objectOf, textAt } from "./json.ts";
import { additions, mergePatch } from "./merge-patch.ts";
import { identity, ownerDevice, requireOwned, selectors } from "./owned.ts";
import { read, removeObject } from "./remove.ts";
import { hardwareView, jobView, machineView, workflowView } from "./tinkerbell-views.ts";

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
  const owned = async (kind: keyof typeof PATHS, deviceIds?: readonly number[]) => {
    const wanted = deviceIds === undefined ? null : new Set(deviceIds);
    const found: { object: JsonObject; owner: number }[] = [];
    for (const labelSelector of selectors(deviceIds))
      for (const object of await client.list(path(kind), { labelSelector })) {
        const owner = ownerDevice(object);
        if (owner !== null && (wanted === null || wanted.has(owner))) found.push({ object, owner });
      }
    return found;
  };

  return {
    async objects(deviceIds) {
      const [hardware, workflows, machines, jobs] = await Promise.all([
        owned("Hardware", deviceIds),
        owned("Workflow", deviceIds),
        owned("Machine", deviceIds),
        owned("Job", deviceIds),
      ]);
      // Read last: a Job that was seen completed has its Tasks by now.
      const owners = [
        ...jobs.map(({ object }) => identity(object).name),
        ...workflows.map(({ object }) => `netboot-${identity(object).name}`),
      ];
      const narrow =
        owners.length > OWNERS_PER_SELECTOR ? {} : { labelSelector: `owner-name in (${owners.join(",")})` };
      const tasks = owners.length === 0 ? [] : await client.list(path("Task"), narrow);
      return {
        hardware: hardware.map(({ object, owner }) => hardwareView(object, owner)),
        workflows: workflows.map(({ object, owner }) => workflowView(object, owner, tasks)),
        machines: machines.map(({ object, owner }) => machineView(object, owner)),
        jobs: jobs.map(({ object, owner }) => jobView(object, owner, tasks)),
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
