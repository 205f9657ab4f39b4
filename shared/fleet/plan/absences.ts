import type { AcceptedMass } from "../fleet-record.ts";
import { withConditions } from "../journal.ts";
import type { FleetSettings } from "../limits.ts";
import { isMass } from "../mass.ts";
import type { DeviceRecord } from "../record.ts";

/** What a complete walk of NetBox came without: noted at the first, closed at a later one, held back where many vanish at once. */
export interface Absences {
  readonly note: readonly DeviceRecord[];
  readonly holdBack: readonly DeviceRecord[];
  readonly close: readonly DeviceRecord[];
}

/** Whether an administrator's word covers that the device vanished: it was seen to before the word, and never since. */
export function isVanishAccepted(
  record: Pick<DeviceRecord, "deviceId" | "absentSinceMs">,
  word: AcceptedMass | null,
): boolean {
  const { absentSinceMs } = record;
  return (
    word !== null && absentSinceMs !== null && absentSinceMs <= word.atMs && word.devices.includes(record.deviceId)
  );
}

/** True for a device that vanished among too many: time alone never closes it. */
export function isVanishHeldBack(record: Pick<DeviceRecord, "conditions">): boolean {
  return record.conditions.some((c) => c.type === "MassVanish");
}

/**
 * @param fleetSize how many records there are
 * @see spec/30-reconcile.md "Requests", the last but one item
 */
export function planAbsences(
  absent: readonly DeviceRecord[],
  fleetSize: number,
  nowMs: number,
  { durations }: Pick<FleetSettings, "durations">,
  word: AcceptedMass | null,
): Absences {
  const doubtful = absent.filter((r) => !isVanishAccepted(r, word));
  const lately = doubtful.filter((r) => nowMs - (r.absentSinceMs ?? nowMs) < durations.massWindowMs);
  const isDoubted = isMass(lately.length, fleetSize);
  const waits = (r: DeviceRecord) =>
    !isVanishAccepted(r, word) && (isVanishHeldBack(r) || (isDoubted && lately.includes(r)));
  const seenBefore = absent.filter((r) => r.absentSinceMs !== null);
  return {
    note: absent.filter((r) => r.absentSinceMs === null),
    holdBack: seenBefore.filter((r) => waits(r) && !isVanishHeldBack(r)),
    close: seenBefore.filter((r) => !waits(r)),
  };
}

/** The record of a device that a complete walk came without for the first time. */
export function withAbsence(record: DeviceRecord, nowMs: number): DeviceRecord {
  if (record.absentSinceMs !== null) return record;
  const message = `${record.name} is missing from NetBox: closed at the next complete walk without it, unless many others are missing too`;
  return withConditions(
    { ...record, absentSinceMs: nowMs },
    [{ type: "Vanished", reason: "absent", message, about: "" }],
    nowMs,
  );
}

/** The record of a device that vanished among too many. */
export function withVanishHeldBack(record: DeviceRecord, nowMs: number): DeviceRecord {
  if (record.absentSinceMs === null) return record;
  const message = `${record.name} is missing from NetBox, as are many others: nothing is deleted before fleetctl accept --vanished`;
  return withConditions(record, [{ type: "MassVanish", reason: "many-at-once", message, about: "" }], nowMs);
}
