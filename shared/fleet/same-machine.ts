import { approvedDigests, boundUuid, identityChanged } from "./binding.ts";
import type { Device } from "./device.ts";
import { type DeviceRecord, isUnfinished } from "./record.ts";

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

/** The run whose frozen serial or EKs are others than NetBox's now: nothing is minted or served for it. */
function movedRun(device: Device, { run }: DeviceRecord): string | null {
  if (!isUnfinished(run)) return null;
  const same =
    run.serial.toLowerCase() === device.serial.toLowerCase() &&
    run.eks.join() === approvedDigests(device.approvedEks).join();
  return same ? null : run.name;
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
  const run = movedRun(device, record);
  if (run !== null)
    return changed(`serial or approved_eks of ${name} changed under run ${run}: wait until it has ended`);
  if (identityChanged(device, record))
    return changed(`approved_eks of ${name} changed after it passed: an owner sets it planned to accept the new TPM`);
  const bound = boundUuid(device, record);
  if (bound === null || bound === uuid) return null;
  return { code: "uuid-conflict", detail: `${name} has attested with another UUID before` };
}
