import type { ConditionType } from "./condition.ts";
import type { DeviceRecord } from "./record.ts";
import type { ConditionRecord } from "./said-record.ts";

export interface FleetCondition extends ConditionRecord {
  /** How many devices have it. */
  readonly devices: number;
}

function gathered(
  type: ConditionType,
  records: readonly DeviceRecord[],
  message: (count: number) => string,
): readonly FleetCondition[] {
  const own = records.flatMap((r) => r.conditions.filter((c) => c.type === type));
  const [first] = own;
  if (first === undefined) return [];
  const sinceMs = Math.min(...own.map((c) => c.sinceMs));
  return [{ type, reason: first.reason, message: message(own.length), about: "", sinceMs, devices: own.length }];
}

/** Records of devices that complete walks of NetBox come without, while something is still to be done or confirmed. */
export function isVanished(record: Pick<DeviceRecord, "absentSinceMs" | "conditions">): boolean {
  return record.absentSinceMs !== null && record.conditions.length > 0;
}

/** What concerns the fleet as a whole and waits for an administrator, from the records of all devices, vanished ones too. */
export function fleetConditions(records: readonly DeviceRecord[]): readonly FleetCondition[] {
  return [
    ...gathered(
      "MassVanish",
      records,
      (n) => `${n} devices vanished from NetBox: nothing of theirs is deleted before fleetctl accept --vanished`,
    ),
    ...gathered(
      "MassFailure",
      records,
      (n) => `${n} devices failed among too many at once: not quarantined before fleetctl accept --failures`,
    ),
    ...gathered("Vanished", records, (n) => `${n} devices are missing from NetBox since the last complete walk`),
  ];
}
