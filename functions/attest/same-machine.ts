import { approvedDigests } from "../../shared/fleet/binding.ts";
import type { Device } from "../../shared/fleet/device.ts";

/** True while the session's machine is the one that NetBox means now: its serial, and every approved EK proven in it. */
export function isSameMachine(
  device: Device,
  claims: { readonly serial: string; readonly eks: readonly { readonly digest: string }[] },
): boolean {
  const approved = approvedDigests(device.approvedEks);
  const proven = new Set(claims.eks.map((ek) => ek.digest));
  return (
    device.serial.toLowerCase() === claims.serial.toLowerCase() &&
    approved.length > 0 &&
    approved.every((digest) => proven.has(digest))
  );
}
