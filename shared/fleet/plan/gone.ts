import type { BootPlaneObjects, ObjectKey } from "../boot-plane.ts";
import type { FleetSettings } from "../limits.ts";
import { isMass } from "../mass.ts";
import { type DeviceRecord, isUnfinished } from "../record.ts";
import type { Step } from "../step.ts";
import { withdrawn } from "./one-run.ts";
import { hasBegun, terminalOf } from "./workflow-facts.ts";

function removal(kind: "Hardware" | "Machine" | "Workflow" | "Job") {
  return ({ name, uid, resourceVersion }: ObjectKey): Step => ({
    do: "remove-object",
    kind,
    name,
    uid,
    resourceVersion,
  });
}

/** What a complete walk of NetBox came without: noted at the first, closed at a later one, held back where many vanish at once. */
export interface Absences {
  readonly note: readonly DeviceRecord[];
  readonly close: readonly DeviceRecord[];
}

/** @param fleetSize how many records there are */
export function planAbsences(
  absent: readonly DeviceRecord[],
  fleetSize: number,
  nowMs: number,
  { durations }: Pick<FleetSettings, "durations">,
): Absences {
  const lately = absent.filter((r) => nowMs - (r.absentSinceMs ?? nowMs) < durations.massWindowMs);
  const seenBefore = absent.filter((r) => r.absentSinceMs !== null);
  return {
    note: absent.filter((r) => r.absentSinceMs === null),
    close: isMass(lately.length, fleetSize) ? [] : seenBefore,
  };
}

/** The record of a device that is gone: its run over, nothing to be read, no token. */
function closed(record: DeviceRecord, nowMs: number): DeviceRecord {
  const { run, config, token } = record;
  return {
    ...record,
    run: isUnfinished(run) ? withdrawn(run, nowMs, "the device is gone from NetBox") : run,
    config: config?.state === "unread" ? { ...config, state: "removed" } : config,
    token: token === null ? null : { ...token, deletedAtMs: token.deletedAtMs ?? nowMs },
    due: [],
  };
}

/**
 * Rows 41 and 42: what is done for a device that NetBox has no more: a run of which no action has begun is withdrawn,
 * one that goes on is left until its end or own deadline, then all objects go. Its Workflow would else be taken by the
 * next device of that MAC. The record is kept.
 * @see spec/35-lifecycle-table.md
 */
export function planGone(
  record: DeviceRecord,
  objects: BootPlaneObjects,
  nowMs: number,
  { durations }: Pick<FleetSettings, "durations">,
): readonly Step[] {
  const { run, token } = record;
  const goesOn = (w: BootPlaneObjects["workflows"][number]) =>
    hasBegun(w) &&
    terminalOf(w) === null &&
    isUnfinished(run) &&
    run.name === w.name &&
    nowMs <= (run.begunAtMs ?? nowMs) + w.timeoutMs + durations.begunSlackMs;
  const steps: Step[] = objects.workflows.filter((w) => !goesOn(w)).map(removal("Workflow"));
  if (record.config?.state === "unread") steps.push({ do: "drop-config", deviceId: record.deviceId, consumed: false });
  if (token !== null && token.deletedAtMs === null) steps.push({ do: "delete-token", id: token.id });
  if (objects.workflows.some(goesOn)) return steps;
  steps.push(
    ...objects.jobs.map(removal("Job")),
    ...objects.machines.map(removal("Machine")),
    ...objects.hardware.map(removal("Hardware")),
  );
  if (steps.length > 0 || isUnfinished(run)) {
    steps.push({ do: "put-record", record: closed(record, nowMs) });
    steps.push({ do: "free-slot", deviceId: record.deviceId });
  }
  return steps;
}
