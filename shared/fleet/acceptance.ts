import { approvedDigests, eksAccepted, eksChanged } from "./binding.ts";
import type { ChangeEntry, Device } from "./device.ts";
import type { DeviceRecord } from "./record.ts";

type Row = Pick<Device, "status" | "approvedEks">;
interface Log {
  /** Newest first; null: not readable. */
  readonly changes: readonly ChangeEntry[] | null;
  readonly netboxUser: string;
}

/** True where only NetBox's change log can tell whether an owner accepted the EKs that are approved now. */
export function needsAcceptance(device: Row, record: Pick<DeviceRecord, "passedEks">): boolean {
  return device.status === "planned" && eksChanged(device, record);
}

/**
 * Whether the status planned that the device has came from an account other than fleetd's own, together with the EKs
 * that are approved now or after them. What the log does not hold any more is no acceptance.
 */
function ownerAccepts(device: Row, { changes, netboxUser }: Log): boolean {
  const now = approvedDigests(device.approvedEks).join();
  if (now === "") return false;
  for (const { before, after, action, user } of changes ?? []) {
    if (after === null || (before === null && action !== "create")) return false;
    const eks = approvedDigests(after.approvedEks).join();
    if (after.status === "planned" && before?.status !== "planned") return user !== netboxUser && eks === now;
    if (before === null || approvedDigests(before.approvedEks).join() !== eks) return false;
  }
  return false;
}

/**
 * The record with what the change log says of changed EKs. Where the log could not be read, what was read before stands
 * for the same EKs, and nothing new is accepted.
 */
export function withAcceptance(device: Row, record: DeviceRecord, log: Log): DeviceRecord {
  const accepted =
    needsAcceptance(device, record) && (log.changes === null ? eksAccepted(device, record) : ownerAccepts(device, log));
  const acceptedEks = accepted ? [...approvedDigests(device.approvedEks)] : null;
  return acceptedEks?.join() === record.acceptedEks?.join() ? record : { ...record, acceptedEks };
}
