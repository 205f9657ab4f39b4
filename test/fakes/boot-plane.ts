import type {
  ActionView,
  BootPlaneObjects,
  HardwareManifest,
  HardwareView,
  JobManifest,
  JobView,
  MachineManifest,
  MachineView,
  ObjectKey,
  TemplateView,
  WorkflowManifest,
  WorkflowView,
} from "../../shared/fleet/boot-plane.ts";
import type { BootPlanePort } from "../../shared/ports/boot-plane.ts";
import { PortError } from "../../shared/ports/error.ts";
import type { ClockPort } from "../../shared/ports/system.ts";

type Stored = HardwareView | MachineView | WorkflowView | JobView;
type Kind = "Hardware" | "Machine" | "Workflow" | "Job";

/** The actions of the shared Templates, in their order. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  provision: ["disk-guard", "wait-code", "wipe", "install-talos", "next-boot", "reboot"],
  attest: ["reboot"],
  wipe: ["disk-guard", "wipe"],
  retire: ["disk-guard", "wipe", "erase", "poweroff"],
};

/** Tinkerbell's API in memory: an enabled Workflow is rendered at once, and nothing runs it. */
export class FakeBootPlane implements BootPlanePort {
  down = false;
  readonly #clock: ClockPort;
  readonly #objects: Record<Kind, Map<string, Stored>> = {
    Hardware: new Map(),
    Machine: new Map(),
    Workflow: new Map(),
    Job: new Map(),
  };
  #version = 0;

  constructor(clock: ClockPort) {
    this.#clock = clock;
  }

  loseAll(): void {
    for (const objects of Object.values(this.#objects)) objects.clear();
  }

  async objects(deviceIds?: readonly number[]): Promise<BootPlaneObjects> {
    this.#check();
    const list = <T extends Stored>(kind: Kind) =>
      structuredClone([...this.#objects[kind].values()] as T[]).filter(
        (one) => deviceIds === undefined || deviceIds.includes(one.deviceId),
      );
    return {
      hardware: list<HardwareView>("Hardware"),
      machines: list<MachineView>("Machine"),
      workflows: list<WorkflowView>("Workflow"),
      jobs: list<JobView>("Job"),
    };
  }

  async apply(manifest: HardwareManifest | MachineManifest): Promise<void> {
    this.#check();
    const old = this.#objects[manifest.kind].get(manifest.metadata.name);
    const key = { ...this.#key(manifest.metadata), ...(old && { uid: old.uid, createdAtMs: old.createdAtMs }) };
    this.#objects[manifest.kind].set(
      key.name,
      manifest.kind === "Hardware"
        ? { ...key, allowPxe: manifest.spec.interfaces.some((i) => i.netboot.allowPXE), spec: manifest.spec }
        : { ...key, powerState: "on", contactable: true, spec: manifest.spec },
    );
  }

  async create(manifest: WorkflowManifest | JobManifest): Promise<void> {
    this.#check();
    const { metadata } = manifest;
    const objects = this.#objects[manifest.kind];
    if (objects.has(metadata.name)) throw new PortError("conflict", "boot-plane", `${metadata.name} exists`);
    const key = this.#key(metadata);
    if (manifest.kind === "Job") {
      const { name: machine } = manifest.spec.machineRef;
      objects.set(key.name, { ...key, machine, state: "open", tasksAreOwn: true, problem: "" });
      return;
    }
    objects.set(key.name, {
      ...key,
      kind: metadata.labels["fleetd.dev/run-kind"] ?? "",
      requestId: metadata.labels["fleetd.dev/request-id"] ?? "",
      disabled: manifest.spec.disabled,
      state: "",
      actions: [],
      templateRef: manifest.spec.templateRef,
      timeoutMs: 0,
      agentId: manifest.spec.hardwareMap.device_1 ?? "",
      problem: "",
      bootJob: null,
    });
  }

  async enableWorkflow(name: string, uid: string, resourceVersion: string): Promise<void> {
    this.#check();
    const found = this.#workflow(name);
    if (found.uid !== uid || found.resourceVersion !== resourceVersion)
      throw new PortError("conflict", "boot-plane", `${name} moved`);
    const actions = (ACTIONS[found.templateRef] ?? []).map(
      (action): ActionView => ({
        name: action,
        image: "tools",
        command: [action],
        state: "PENDING",
        message: "",
        startedAtMs: null,
        stoppedAtMs: null,
      }),
    );
    this.change(name, { disabled: false, state: "PENDING", timeoutMs: 3_600_000, actions });
  }

  /** What controller and agent do to a Workflow. */
  change(name: string, change: Partial<WorkflowView>): void {
    this.#objects.Workflow.set(name, { ...this.#workflow(name), ...change, resourceVersion: this.#next() });
  }

  /** What Rufio does to a Job. */
  changeJob(name: string, change: Partial<JobView>): void {
    const found = this.#objects.Job.get(name) as JobView | undefined;
    if (found !== undefined) this.#objects.Job.set(name, { ...found, ...change, resourceVersion: this.#next() });
  }

  async remove(kind: Kind, name: string, uid: string, resourceVersion?: string): Promise<void> {
    this.#check();
    const found = this.#objects[kind].get(name);
    if (found === undefined) return;
    if (found.uid !== uid || (resourceVersion !== undefined && found.resourceVersion !== resourceVersion))
      throw new PortError("conflict", "boot-plane", `${name} moved`);
    this.#objects[kind].delete(name);
  }

  async template(name: string): Promise<TemplateView | null> {
    this.#check();
    return Object.hasOwn(ACTIONS, name) ? { data: (ACTIONS[name] ?? []).join("\n") } : null;
  }

  #workflow(name: string): WorkflowView {
    const found = this.#objects.Workflow.get(name);
    if (found === undefined) throw new PortError("not-found", "boot-plane", name);
    return found as WorkflowView;
  }

  #key(metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }): ObjectKey {
    return {
      name: metadata.name,
      uid: `uid-${this.#next()}`,
      resourceVersion: this.#next(),
      createdAtMs: this.#clock.nowMs(),
      deviceId: Number(metadata.labels["fleetd.dev/device-id"]),
    };
  }

  #next(): string {
    this.#version++;
    return String(this.#version);
  }

  #check(): void {
    if (this.down) throw new PortError("unavailable", "boot-plane", "no answer");
  }
}
