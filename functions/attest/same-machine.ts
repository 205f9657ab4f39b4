import { approvedDigests, boundUuid } from "../../shared/fleet/binding.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { identityChanged } from "../../shared/fleet/plan/gates.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";

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

/**
 * Why a machine with the approved EKs is not the one that passed before: its owner approved other EKs and has not set it
 * planned, or its mainboard is another with the same TPM. null where it is, or where none has passed.
 * @see spec/30-reconcile.md; spec/10-protocol.md section 1
 */
export function changedIdentity(
  device: Device,
  record: DeviceRecord | null,
  uuid: string,
): { readonly code: "identity-changed" | "uuid-conflict"; readonly detail: string } | null {
  if (record === null) return null;
  if (identityChanged({ device, record })) {
    const detail = `approved_eks of ${device.name} changed after it passed: set it planned to accept the new TPM`;
    return { code: "identity-changed", detail };
  }
  const bound = boundUuid(device, record);
  if (bound === null || bound === uuid) return null;
  return { code: "uuid-conflict", detail: `${device.name} has attested with another UUID before` };
}
