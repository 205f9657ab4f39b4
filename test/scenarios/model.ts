import type { BootPlaneObjects, JobView, WorkflowState, WorkflowView } from "../../shared/fleet/boot-plane.ts";
import type { ClassTable } from "../../shared/fleet/class.ts";
import type { CsrView, NodeView, PodView, TokenView } from "../../shared/fleet/cluster.ts";
import type { ChangedValues, ChangeEntry, Device } from "../../shared/fleet/device.ts";
import { type FleetRecord, newFleetRecord } from "../../shared/fleet/fleet-record.ts";
import type { FleetSettings } from "../../shared/fleet/limits.ts";
import type { Observed } from "../../shared/fleet/observed.ts";
import { planDevice } from "../../shared/fleet/plan/plan.ts";
import { type DeviceRecord, newRecord } from "../../shared/fleet/record.ts";
import { freeSlot, takeSlot } from "../../shared/fleet/slots.ts";
import type { Step } from "../../shared/fleet/step.ts";
import { describeStep } from "./describe.ts";
import { ACTIONS, aDevice, CLASSES, SETTINGS } from "./fixtures.ts";

type OwnersFields = "status" | "desiredAction" | "protected" | "approvedEks" | "name" | "serial";

function valuesOf({ status, desiredAction, approvedEks }: Device): ChangedValues {
  return { status, desiredAction, approvedEks };
}

/** A small world around the pure planner: it does what each step says to plain objects, and keeps the lines of a story. */
export class Model {
  nowMs = Date.UTC(2026, 10, 29, 12);
  record: DeviceRecord;
  fleet: FleetRecord;
  readonly lines: string[] = [];
  changes: ChangeEntry[] | null = [];
  bootPlane: { -readonly [K in keyof BootPlaneObjects]: BootPlaneObjects[K][number][] } | null = {
    hardware: [],
    workflows: [],
    machines: [],
    jobs: [],
  };
  cluster: { node: NodeView | null; csrs: CsrView[]; pods: PodView[] } | null = { node: null, csrs: [], pods: [] };
  device: Device;
  conflict: string | null = null;
  othersNode: string | null = null;
  settings: FleetSettings = SETTINGS;
  classes: ClassTable = CLASSES;
  /** Text of the running Workflow's Template. */
  template: string | null = null;
  othersApprove = false;
  /** Bootstrap tokens of the device that the cluster has. */
  tokens: TokenView[] = [];
  #version = 1;

  constructor(device: Partial<Device> = {}) {
    this.fleet = newFleetRecord(this.nowMs - 3_600_000);
    this.device = { ...aDevice(), ...device };
    this.record = newRecord(this.device.id, this.device.name);
  }

  say(text: string): void {
    this.lines.push(`# ${text}`);
  }

  minutes(n: number): void {
    this.nowMs += n * 60_000;
  }

  /** An owner changes the row, which makes a change-log entry. */
  owner(change: Partial<Pick<Device, OwnersFields>>, requestId: string): void {
    this.minutes(1);
    const before = valuesOf(this.device);
    this.write(change);
    const after = valuesOf(this.device);
    this.changes = [
      { requestId, atMs: this.nowMs, user: "owner", action: "update", before, after },
      ...(this.changes ?? []),
    ];
    this.say(`owner: ${JSON.stringify(change)}`);
  }

  write(change: Partial<Device>): void {
    this.#version++;
    this.device = {
      ...this.device,
      ...change,
      lastUpdated: `2026-11-29T12:00:00.${String(this.#version).padStart(6, "0")}Z`,
    };
  }

  observed(trigger: Observed["trigger"] = "pass"): Observed {
    return {
      nowMs: this.nowMs,
      trigger,
      device: this.device,
      conflict: this.conflict,
      othersNode: this.othersNode,
      template: this.template,
      changes: this.changes,
      record: this.record,
      fleet: this.fleet,
      bootPlane: this.bootPlane,
      cluster: this.cluster && { ...this.cluster, tokens: this.tokens, othersApprove: this.othersApprove },
      classes: this.classes,
      classInputs: null,
      settings: this.settings,
    };
  }

  /** Passes until the device rests; returns the lines of what was done. */
  pass(trigger: Observed["trigger"] = "pass"): string[] {
    this.minutes(0.5);
    this.lines.push(trigger === "pass" ? "pass:" : "confirm:");
    const from = this.lines.length;
    for (let n = 0; n < 16; n++) {
      const plan = planDevice(this.observed(trigger));
      for (const step of plan.steps) {
        const line = describeStep(step);
        if (line !== null) this.lines.push(`  ${line}`);
        this.apply(step);
      }
      if (!plan.again || plan.steps.length === 0) break;
      if (n === 15) throw new Error(`the device does not come to rest:\n${this.lines.slice(-40).join("\n")}`);
    }
    return this.lines.slice(from).map((l) => l.trim());
  }

  /** A pass that dies right after a step of this kind (a record: one that fits). */
  until(last: Step["do"], fits: (record: DeviceRecord) => boolean = () => true): void {
    this.minutes(0.5);
    for (let n = 0; n < 16; n++)
      for (const step of planDevice(this.observed()).steps) {
        this.apply(step);
        if (step.do === last && fits(this.record)) return;
      }
    throw new Error(`no ${last} came`);
  }

  key(name: string) {
    return {
      name,
      uid: `uid-${name}-${++this.#version}`,
      resourceVersion: String(++this.#version),
      createdAtMs: this.nowMs,
      deviceId: this.device.id,
    };
  }

  /** Called after each step was done: a test may look on. */
  protected applied(_step: Step): void {}

  /** Does what a step says. */
  apply(step: Step): void {
    this.#change(step);
    this.applied(step);
  }

  #change(step: Step): void {
    const plane = this.bootPlane;
    switch (step.do) {
      case "put-record":
        this.record = step.record;
        return;
      case "take-slot":
        this.fleet = takeSlot(this.fleet, { ...step, max: this.settings.maxDiskRuns }, this.nowMs) ?? this.fleet;
        return;
      case "free-slot":
        this.fleet = freeSlot(this.fleet, step.deviceId);
        return;
      case "patch-device": {
        const { status, desiredAction, ...shown } = step.patch;
        this.write({
          ...(status === undefined ? {} : { status }),
          ...(desiredAction === undefined ? {} : { desiredAction }),
          shown: { ...this.device.shown, ...shown },
        });
        return;
      }
      case "apply-object": {
        if (plane === null) return;
        const { manifest } = step;
        if (manifest.kind === "Hardware") {
          const allowPxe = manifest.spec.interfaces.some((i) => i.netboot.allowPXE);
          plane.hardware = [{ ...this.key(manifest.metadata.name), allowPxe, spec: manifest.spec }];
        } else
          plane.machines = [
            { ...this.key(manifest.metadata.name), powerState: "on", contactable: true, spec: manifest.spec },
          ];
        return;
      }
      case "create-workflow": {
        const { metadata, spec } = step.manifest;
        const workflow: WorkflowView = {
          ...this.key(metadata.name),
          kind: metadata.labels["fleetd.dev/run-kind"] ?? "",
          requestId: metadata.labels["fleetd.dev/request-id"] ?? "",
          disabled: true,
          state: "",
          actions: [],
          templateRef: spec.templateRef,
          timeoutMs: 0,
          agentId: "",
          problem: "",
          bootJob: null,
        };
        plane?.workflows.push(workflow);
        return;
      }
      case "create-job":
        plane?.jobs.push({
          ...this.key(step.manifest.metadata.name),
          machine: "f7",
          state: "open",
          tasksAreOwn: true,
          problem: "",
        });
        return;
      case "enable-workflow":
        this.workflow(step.name, { disabled: false, state: "PENDING" });
        return;
      case "remove-object":
        if (plane === null) return;
        if (step.kind === "Workflow") plane.workflows = plane.workflows.filter((w) => w.name !== step.name);
        if (step.kind === "Job") plane.jobs = plane.jobs.filter((j) => j.name !== step.name);
        if (step.kind === "Machine") plane.machines = plane.machines.filter((o) => o.name !== step.name);
        if (step.kind === "Hardware") plane.hardware = plane.hardware.filter((o) => o.name !== step.name);
        return;
      case "patch-node":
        if (this.cluster?.node)
          this.cluster.node = {
            ...this.cluster.node,
            unschedulable: step.patch.unschedulable,
            taints: step.patch.quarantineTaint
              ? [{ key: "fleetd.dev/quarantine", value: "", effect: "NoSchedule" }]
              : [],
            annotations: step.patch.cordonReason === null ? {} : { "fleetd.dev/cordon": step.patch.cordonReason },
          };
        return;
      case "delete-node":
        if (this.cluster?.node?.uid === step.uid) this.cluster.node = null;
        return;
      case "delete-csr":
        if (this.cluster) this.cluster.csrs = this.cluster.csrs.filter((c) => c.name !== step.name);
        return;
      case "delete-token":
        this.tokens = this.tokens.filter((t) => t.id !== step.id);
        return;
      case "approve-csr":
        if (this.cluster)
          this.cluster.csrs = this.cluster.csrs.map((c) =>
            c.name === step.csr.name ? { ...c, decision: "approved" } : c,
          );
        return;
      default:
        return;
    }
  }

  /** Changes the named (or only) Workflow, as controller and agent do. */
  workflow(name: string | null, change: Partial<WorkflowView>): void {
    if (this.bootPlane === null) return;
    this.bootPlane.workflows = this.bootPlane.workflows.map((w) =>
      name === null || w.name === name ? { ...w, ...change } : w,
    );
  }

  /** The agent's report: every action up to `done` SUCCESS, the next one in `state`. */
  agent(done: number, state: WorkflowState, failing: "RUNNING" | "FAILED" | "PENDING" = "RUNNING"): void {
    const [workflow] = this.bootPlane?.workflows ?? [];
    const names = ACTIONS[workflow?.kind ?? ""] ?? [];
    this.workflow(null, {
      state,
      timeoutMs: 3_600_000,
      actions: names.map((name, i) => ({
        name,
        image: "tools",
        command: [name],
        state: i < done ? "SUCCESS" : i === done ? failing : "PENDING",
        message: "",
        startedAtMs: i <= done ? this.nowMs + i : null,
        stoppedAtMs: i < done ? this.nowMs + i : null,
      })),
    });
    this.say(`agent: ${done} of ${names.length} actions done, Workflow ${state}`);
  }

  job(change: Partial<JobView>): void {
    if (this.bootPlane !== null)
      this.bootPlane.jobs = this.bootPlane.jobs.map((j, i, all) => (i === all.length - 1 ? { ...j, ...change } : j));
  }

  node(): void {
    if (this.cluster === null) return;
    this.cluster.node = {
      name: this.device.name,
      uid: `node-${++this.#version}`,
      unschedulable: false,
      taints: [],
      annotations: {},
      createdAtMs: this.nowMs,
    };
  }
}
