import type { RefusalCode } from "../../shared/attest/verdict.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import { needsAcceptance, withAcceptance } from "../../shared/fleet/acceptance.ts";
import { type Device, isExpected } from "../../shared/fleet/device.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import { identityFault, isSameMachine } from "../../shared/fleet/same-machine.ts";
import type { Deps } from "../../shared/runtime/deps.ts";

interface Claimed {
  readonly deviceId: number;
  readonly serial: string;
  readonly uuid: string;
  readonly eks: readonly { readonly digest: string }[];
}

export type MachineNow =
  | { readonly ok: true; readonly device: Device; readonly record: DeviceRecord }
  | { readonly ok: false; readonly code: RefusalCode; readonly detail: string };

/**
 * The record with what NetBox's change log says of changed EKs, where nothing else can tell.
 * @throws PortError where the log cannot be read: nothing is accepted unread
 */
export async function acceptedRecord(deps: Deps, device: Device, record: DeviceRecord): Promise<DeviceRecord> {
  if (!needsAcceptance(device, record)) return record;
  const { world } = deps;
  const log = { changes: await world.netbox.changes(device.id), netboxUser: world.settings.netboxUser };
  return updateRecord(world, device, (r) => withAcceptance(device, r, log));
}

/** Device and record as they are now, where the session's machine is still the one that they mean. */
export async function machineNow(deps: Deps, claims: Claimed): Promise<MachineNow> {
  const { world } = deps;
  const no = (code: RefusalCode, detail: string): MachineNow => ({ ok: false, code, detail });
  const device = await world.netbox.device(claims.deviceId);
  if (device === null) return no("inventory-unavailable", "the device is not to be found just now; try again");
  if (!isExpected(device.status)) return no("not-expected", `${device.name} is ${device.status}`);
  if (!isSameMachine(device, claims))
    return no("identity-changed", "serial or approved EKs changed since begin; start again");
  const record = await acceptedRecord(deps, device, await updateRecord(world, device, () => null));
  const fault = identityFault(device, record, claims.uuid);
  return fault === null ? { ok: true, device, record } : no(fault.code, fault.detail);
}
