import type { FleetRecord } from "./fleet-record.ts";

/**
 * Takes a disk-run slot for a device, or null where all are taken. The run's own counts as free; a first install
 * counts but never waits.
 * @see spec/30-reconcile.md "Requests" (FLEET_MAX_DISK_RUNS)
 */
export function takeSlot(
  fleet: FleetRecord,
  ask: { readonly deviceId: number; readonly run: string; readonly unlimited: boolean; readonly max: number },
  nowMs: number,
): FleetRecord | null {
  const others = fleet.slots.filter((s) => s.deviceId !== ask.deviceId);
  // A slot of an earlier run is none for this one: a first install's never counted against the bound.
  const own = fleet.slots.some((s) => s.deviceId === ask.deviceId && s.run === ask.run);
  if (!own && !ask.unlimited && others.length >= ask.max) return null;
  return { ...fleet, slots: [...others, { deviceId: ask.deviceId, run: ask.run, sinceMs: nowMs }] };
}

/** Frees a device's slot; the same record where it holds none. */
export function freeSlot(fleet: FleetRecord, deviceId: number): FleetRecord {
  const slots = fleet.slots.filter((s) => s.deviceId !== deviceId);
  return slots.length === fleet.slots.length ? fleet : { ...fleet, slots };
}

/** Those of the slots whose devices are not in the fleet any more, held longer than `orphanMs`. */
export function orphanedSlots(
  slots: FleetRecord["slots"],
  deviceIds: ReadonlySet<number>,
  nowMs: number,
  orphanMs: number,
): readonly number[] {
  return slots.filter((s) => !deviceIds.has(s.deviceId) && nowMs - s.sinceMs > orphanMs).map((s) => s.deviceId);
}
