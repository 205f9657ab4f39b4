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
} from "../../../shared/fleet/boot-plane.ts";
import type { BootPlanePort } from "../../../shared/ports/boot-plane.ts";
import { PortError } from "../../../shared/ports/error.ts";
import { frozen } from "../random.ts";

type Kind = "Hardware" | "Machine" | "Workflow" | "Job";

/** The actions of the shared Templates, in their order. */
export const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  provision: ["disk-guard", "wait-code", "wipe", "install-talos", "next-boot", "reboot"],
  attest: ["reboot"],
  wipe: ["disk-guard", "wipe"],
  retire: ["disk-guard", "wipe", "erase", "poweroff"],
};
const TEMPLATE_TIMEOUT_MS = 3_600_000;

export interface SimWorkflow extends WorkflowView {
  readonly manifest: WorkflowManifest;
}

export interface BootPlaneCopy {
  readonly hardware: ReadonlyMap<string, HardwareView>;
  readonly machines: ReadonlyMap<string, MachineView>;
  readonly workflows: ReadonlyMap<string, SimWorkflow>;
  readonly jobs: ReadonlyMap<string, JobView>;
}

export interface BootPlaneWatch {
  nowMs(): number;
  created(workflow: SimWorkflow): void;
  enabled(workflow: SimWorkflow): void;
  /** Hardware was deleted. */
  removed(name: string, deviceId: number): void;
}

const isDone = (w: WorkflowView) => w.state === "SUCCESS" || w.state === "FAILED" || w.state === "TIMEOUT";

/** Tinkerbell's API: nothing is rendered, run or powered until the controller, an agent or Rufio does so. */
export class SimBootPlane implements BootPlanePort {
  hardware = new Map<string, HardwareView>();
  machines = new Map<string, MachineView>();
  workflows = new Map<string, SimWorkflow>();
  jobs = new Map<string, JobView>();
  readonly #watch: BootPlaneWatch;
  #version = 0;

  constructor(watch: BootPlaneWatch) {
    this.#watch = watch;
  }

  copy(): BootPlaneCopy {
    return {
      hardware: new Map(this.hardware),
      machines: new Map(this.machines),
      workflows: new Map(this.workflows),
      jobs: new Map(this.jobs),
    };
  }

  lose(): void {
    for (const map of [this.hardware, this.machines, this.workflows, this.jobs]) map.clear();
  }

  /** Enabled Workflows that have not ended, of a device or of all. */
  open(deviceId?: number): SimWorkflow[] {
    return [...this.workflows.values()].filter(
      (w) => !w.disabled && !isDone(w) && (deviceId === undefined || w.deviceId === deviceId),
    );
  }

  async objects(which?: number | readonly number[]): Promise<BootPlaneObjects> {
    const isWanted = ({ deviceId }: ObjectKey) =>
      which === undefined || (typeof which === "number" ? which === deviceId : which.includes(deviceId));
    return {
      hardware: [...this.hardware.values()].filter(isWanted),
      machines: [...this.machines.values()].filter(isWanted),
      workflows: [...this.workflows.values()].filter(isWanted),
      jobs: [...this.jobs.values()].filter(isWanted),
    };
  }

  async apply(manifest: HardwareManifest | MachineManifest): Promise<void> {
    const { name } = manifest.metadata;
    if (manifest.kind === "Hardware") {
      const allowPxe = manifest.spec.interfaces.some((i) => i.netboot.allowPXE);
      this.hardware.set(name, frozen({ ...this.#key(manifest, this.hardware), allowPxe, spec: manifest.spec }));
      return;
    }
    const old = this.machines.get(name);
    const power = old ?? { powerState: "unknown" as const, contactable: false };
    const { powerState, contactable } = power;
    const key = this.#key(manifest, this.machines);
    this.machines.set(name, frozen({ ...key, powerState, contactable, spec: manifest.spec }));
  }

  async create(manifest: WorkflowManifest | JobManifest): Promise<void> {
    const { metadata } = manifest;
    const { name } = metadata;
    const there: ReadonlyMap<string, ObjectKey> = manifest.kind === "Job" ? this.jobs : this.workflows;
    if (there.has(name)) throw new PortError("conflict", "boot-plane", `${name} exists`);
    if (manifest.kind === "Job") {
      const machine = manifest.spec.machineRef.name;
      const job = { ...this.#key(manifest), machine, state: "open" as const, tasksAreOwn: true, problem: "" };
      this.jobs.set(name, frozen(job));
      return;
    }
    const workflow: SimWorkflow = frozen({
      ...this.#key(manifest),
      kind: metadata.labels["fleetd.dev/run-kind"] ?? "",
      requestId: metadata.labels["fleetd.dev/request-id"] ?? "",
      disabled: manifest.spec.disabled,
      state: "" as const,
      actions: [],
      templateRef: manifest.spec.templateRef,
      timeoutMs: 0,
      agentId: manifest.spec.hardwareMap.device_1 ?? "",
      problem: "",
      bootJob: null,
      manifest,
    });
    this.workflows.set(name, workflow);
    this.#watch.created(workflow);
  }

  async enableWorkflow(name: string, uid: string, resourceVersion: string): Promise<void> {
    const found = this.workflows.get(name);
    if (found === undefined) throw new PortError("not-found", "boot-plane", name);
    if (found.uid !== uid || found.resourceVersion !== resourceVersion)
      throw new PortError("conflict", "boot-plane", `${name} moved`);
    this.change(name, { disabled: false });
    const enabled = this.workflows.get(name);
    if (enabled !== undefined) this.#watch.enabled(enabled);
  }

  /** What the controller does to a Workflow that is enabled. */
  render(name: string): void {
    const found = this.workflows.get(name);
    if (found === undefined || found.disabled || found.actions.length > 0) return;
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
    this.change(name, { state: "PENDING", timeoutMs: TEMPLATE_TIMEOUT_MS, actions });
  }

  /** What controller and agent do to a Workflow. */
  change(name: string, change: Partial<WorkflowView>): void {
    const found = this.workflows.get(name);
    if (found !== undefined) this.workflows.set(name, frozen({ ...found, ...change, resourceVersion: this.#next() }));
  }

  /** What Rufio does to a Job. */
  changeJob(name: string, change: Partial<JobView>): void {
    const found = this.jobs.get(name);
    if (found !== undefined) this.jobs.set(name, frozen({ ...found, ...change, resourceVersion: this.#next() }));
  }

  /** What Rufio's poll writes of a BMC. */
  changeMachine(name: string, change: Partial<MachineView>): void {
    const found = this.machines.get(name);
    if (found !== undefined) this.machines.set(name, frozen({ ...found, ...change, resourceVersion: this.#next() }));
  }

  async remove(kind: Kind, name: string, uid: string, resourceVersion?: string): Promise<void> {
    const maps: Readonly<Record<Kind, Map<string, ObjectKey>>> = {
      Hardware: this.hardware as Map<string, ObjectKey>,
      Machine: this.machines as Map<string, ObjectKey>,
      Workflow: this.workflows as Map<string, ObjectKey>,
      Job: this.jobs as Map<string, ObjectKey>,
    };
    const found = maps[kind].get(name);
    if (found === undefined) return;
    if (found.uid !== uid || (resourceVersion !== undefined && found.resourceVersion !== resourceVersion))
      throw new PortError("conflict", "boot-plane", `${name} moved`);
    maps[kind].delete(name);
    if (kind === "Hardware") this.#watch.removed(name, found.deviceId);
  }

  async template(name: string): Promise<TemplateView | null> {
    const actions = ACTIONS[name];
    if (actions === undefined) return null;
    const lines = actions.map((a) => `      - {name: ${a}, image: tools, command: [${a}]}`);
    return { data: `tasks:\n  - name: all\n    actions:\n${lines.join("\n")}\n` };
  }

  #key(manifest: WorkflowManifest | JobManifest | HardwareManifest | MachineManifest, of?: Map<string, ObjectKey>) {
    const { name, labels } = manifest.metadata;
    const old = of?.get(name);
    return {
      name,
      uid: old?.uid ?? `uid-${this.#next()}`,
      resourceVersion: this.#next(),
      createdAtMs: old?.createdAtMs ?? this.#watch.nowMs(),
      deviceId: Number(labels["fleetd.dev/device-id"]),
    };
  }

  #next(): string {
    this.#version++;
    return String(this.#version);
  }
}
