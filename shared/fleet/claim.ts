import { approvedDigests } from "./binding.ts";
import type { Device } from "./device.ts";
import type { DeviceRecord } from "./record.ts";

/** What a machine said of itself, as far as it is judged here. */
export interface ClaimedMachine {
  readonly serial: string;
  readonly uuid: string;
  readonly eks: readonly { readonly digest: string }[];
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Whether others claim the same serial: of two claims at most one is true, whoever came first. */
export function isContested(
  claim: Pick<ClaimedMachine, "serial">,
  all: readonly Pick<ClaimedMachine, "serial">[],
): boolean {
  const serial = claim.serial.toLowerCase();
  return all.filter((one) => one.serial.toLowerCase() === serial).length > 1;
}

/**
 * Whether what a claim asked for has happened since: its device has the claim's EKs approved, and a machine with these
 * and the claim's UUID has passed.
 */
export function isSettled(
  claim: ClaimedMachine,
  fleet: readonly { readonly device: Device; readonly record: DeviceRecord }[],
  isoTime: (ms: number) => string,
): boolean {
  const claimed = claim.eks.map((ek) => ek.digest);
  return fleet.some(({ device, record }) => {
    const approved = approvedDigests(device.approvedEks);
    return (
      device.serial.toLowerCase() === claim.serial.toLowerCase() &&
      record.uuid === claim.uuid &&
      approved.length > 0 &&
      approved.join() === record.passedEks?.join() &&
      approved.every((digest) => claimed.includes(digest)) &&
      record.lastSessionAtMs !== null &&
      claim.at <= isoTime(record.lastSessionAtMs)
    );
  });
}
