import type { BootPlaneObjects, ObjectKey, WorkflowView } from "../boot-plane.ts";
import type { FleetSettings } from "../limits.ts";
import { offJob } from "../manifests/workflow.ts";
import { type DeviceRecord, isUnfinished, type Run } from "../record.ts";
import type { Step } from "../step.ts";
import { backoffMs } from "./backoff.ts";
import { withdrawn } from "./run-end.ts";
import { diskBegun, hasBegun, terminalOf } from "./workflow-facts.ts";

type Settings = Pick<FleetSettings, "durations" | "namespace">;

function removal(kind: "Hardware" | "Machine" | "Workflow" | "Job") {
  return ({ name, uid, resourceVersion }: ObjectKey): Step => ({
    do: "remove-object",
    kind,
    name,
    uid,
    resourceVersion,
  });
}

/** How the run of a device that is gone ended, as far as its Workflow tells. */
function ended(run: Run, own: WorkflowView | undefined, nowMs: number, isOff: boolean): Run {
  const seen = own === undefined ? run : { ...run, diskBegun: run.diskBegun || diskBegun(own) };
  const begunAtMs = run.begunAtMs ?? (own !== undefined && hasBegun(own) ? nowMs : null);
  const detail = "the device is gone from NetBox";
  if (begunAtMs === null) return withdrawn(run, nowMs, detail);
  const end = own === undefined ? null : terminalOf(own);
  const state: NonNullable<Run["terminal"]>["state"] =
    end?.state ?? (isOff || own === undefined ? "STOPPED" : "DEADLINE");
  const terminal = { state, atMs: nowMs, action: end?.action ?? null, detail };
  return { ...seen, begunAtMs, phase: "ended", terminal, result: state === "STOPPED" ? "stopped" : "failed" };
}

/** The record of a device that is gone: its run over, nothing to be read, no token. */
function closed(record: DeviceRecord, run: Run | null, nowMs: number): DeviceRecord {
  const { config, token } = record;
  return {
    ...record,
    run,
    config: config?.state === "unread" ? { ...config, state: "removed" } : config,
    token: token === null ? null : { ...token, deletedAtMs: token.deletedAtMs ?? nowMs },
    goneOff: null,
    due: [],
    conditions: [],
  };
}

type GoneOff = NonNullable<DeviceRecord["goneOff"]>;

/** How many off Jobs bear the name of the device's run so far: none is ever used twice, gone or retired. */
export function offJobsMade({ goneOff, retire }: Pick<DeviceRecord, "goneOff" | "retire">): number {
  return Math.max(goneOff?.jobs ?? 0, retire?.offJobs ?? 0);
}

/** The count alone: what a BMC was asked before the device was back, or kept after all, is no evidence later. */
export function countedOff(record: Pick<DeviceRecord, "goneOff" | "retire">): DeviceRecord["goneOff"] {
  const jobs = offJobsMade(record);
  return jobs === 0 ? null : { jobs, job: null, nextTryAtMs: null };
}

/** What a look at the device changes: it is there (again). */
export function asPresent(record: DeviceRecord): Partial<DeviceRecord> {
  return { absentSinceMs: null, goneOff: record.goneOff === null ? null : countedOff(record) };
}

/** Row 21 for a device that is gone: one off Job at a time, a failed one means unknown. null: the machine is off. */
function turnOff(
  record: DeviceRecord,
  run: Run,
  objects: BootPlaneObjects,
  nowMs: number,
  s: Settings,
): GoneOff | null {
  const { retryFirstMs, retryLastMs, offDangerMs } = s.durations;
  const standing = record.goneOff ?? { jobs: 0, job: null, nextTryAtMs: null };
  if (standing.job === null) {
    if (standing.nextTryAtMs !== null && nowMs < standing.nextTryAtMs) return standing;
    const jobs = offJobsMade(record) + 1;
    return { jobs, job: `${run.name}-off-${jobs}`, nextTryAtMs: null };
  }
  const job = objects.jobs.find((j) => j.name === standing.job);
  if (job === undefined) return standing;
  if (job.state === "completed" && job.tasksAreOwn) return null;
  if (job.state === "open" && nowMs - job.createdAtMs <= offDangerMs) return standing;
  const nextTryAtMs = nowMs + backoffMs(standing.jobs, retryFirstMs, retryLastMs);
  return { jobs: standing.jobs, job: null, nextTryAtMs };
}

/**
 * Rows 41 and 42: what is done for a device that NetBox has no more. A run of which no action has begun is withdrawn, one
 * that goes on is stopped through the BMC, or without one left until its end or own deadline; then all objects go: its
 * Workflow would else be taken by the next device of that MAC. The record is kept.
 * @see spec/35-lifecycle-table.md
 */
export function planGone(
  record: DeviceRecord,
  objects: BootPlaneObjects,
  nowMs: number,
  settings: Settings,
): readonly Step[] {
  const { token } = record;
  const run = isUnfinished(record.run) ? record.run : null;
  const own = objects.workflows.find((w) => w.name === run?.name);
  const goesOn = run !== null && own !== undefined && hasBegun(own) && terminalOf(own) === null;
  const steps: Step[] = objects.workflows.filter((w) => !goesOn || w !== own).map(removal("Workflow"));
  if (record.config?.state === "unread") steps.push({ do: "drop-config", deviceId: record.deviceId, consumed: false });
  if (token !== null && token.deletedAtMs === null) steps.push({ do: "delete-token", id: token.id });
  let isOff = false;
  if (goesOn) {
    const { timeoutMs } = own;
    const going: Run = { ...run, phase: "running", begunAtMs: run.begunAtMs ?? nowMs, timeoutMs };
    const off = objects.machines.length > 0 ? turnOff(record, going, objects, nowMs, settings) : undefined;
    isOff = off === null;
    const overdue = nowMs > (going.begunAtMs ?? nowMs) + timeoutMs + settings.durations.begunSlackMs;
    if (!isOff && !overdue) {
      const next = { ...closed(record, going, nowMs), conditions: record.conditions, goneOff: off ?? null };
      const job = off?.job ?? null;
      const isMade = objects.jobs.some((j) => j.name === job);
      if (JSON.stringify(next) !== JSON.stringify(record)) steps.push({ do: "put-record", record: next });
      if (job !== null && !isMade)
        steps.push({
          do: "create-job",
          manifest: offJob({ id: record.deviceId, name: record.name }, job, settings.namespace),
        });
      return steps;
    }
    steps.push(removal("Workflow")(own));
  }
  steps.push(
    ...objects.jobs.map(removal("Job")),
    ...objects.machines.map(removal("Machine")),
    ...objects.hardware.map(removal("Hardware")),
  );
  if (steps.length > 0 || run !== null || record.conditions.length > 0) {
    const last = run === null ? record.run : ended(run, own, nowMs, isOff);
    steps.push({ do: "put-record", record: closed(record, last, nowMs) });
    steps.push({ do: "free-slot", deviceId: record.deviceId });
  }
  return steps;
}

/** True where the device has been gone for so long that its record goes too (spec/00, "What fleetd remembers"). */
export function isForgotten(
  record: DeviceRecord,
  nowMs: number,
  { durations }: Pick<FleetSettings, "durations">,
): boolean {
  return record.absentSinceMs !== null && nowMs - record.absentSinceMs > durations.recordKeepMs;
}
