import { approvedDigests, boundUuid, identityChanged } from "./binding.ts";
import type { Device } from "./device.ts";
import { type DeviceRecord, isUnfinished, type Run } from "./record.ts";

/** What a session has proven: the serial that it claims, and EKs by their digests. */
interface Proven {
  readonly serial: string;
  readonly eks: readonly { readonly digest: string }[];
}

/** True while the session's machine is the one that NetBox means now: its serial, and exactly the approved EKs proven in it. */
export function isSameMachine(device: Pick<Device, "serial" | "approvedEks">, { serial, eks }: Proven): boolean {
  const approved = approvedDigests(device.approvedEks);
  const proven = eks.map((ek) => ek.digest).sort();
  const sameSerial = device.serial.toLowerCase() === serial.toLowerCase();
  return sameSerial && approved.length > 0 && approved.join() === proven.join();
}

/** Whether serial or EKs in NetBox are others than the run froze: nothing is minted or served for it. */
export function hasMovedUnder(
  device: Pick<Device, "serial" | "approvedEks">,
  run: Pick<Run, "serial" | "eks">,
): boolean {
  return (
    run.serial.toLowerCase() !== device.serial.toLowerCase() ||
    run.eks.join() !== approvedDigests(device.approvedEks).join()
  );
}

export interface IdentityFault {
  readonly code: "identity-changed" | "uuid-conflict";
  readonly detail: string;
}

/**
 * Why a machine with the approved EKs is not the one that passed before: nobody accepted the change of them, they
 * changed under a run, or its mainboard is another with the same TPM. null where it is, or where none has passed.
 * @see spec/30-reconcile.md "Requests"; spec/10-protocol.md section 1
 */
export function identityFault(device: Device, record: DeviceRecord | null, uuid: string): IdentityFault | null {
  if (record === null) return null;
  const { name } = device;
  const changed = (detail: string): IdentityFault => ({ code: "identity-changed", detail });
  const { run } = record;
  if (isUnfinished(run) && hasMovedUnder(device, run))
    return changed(`serial or approved_eks of ${name} changed under run ${run.name}: wait until it has ended`);
  if (identityChanged(device, record))
    return changed(`approved_eks of ${name} changed after it passed: an owner sets it planned to accept the new TPM`);
  const bound = boundUuid(device, record);
  if (bound === null || bound === uuid) return null;
  return { code: "uuid-conflict", detail: `${name} has attested with another UUID before` };
}
