import { bytes } from "../../shared/attest/bytes.ts";
import { nodeCommonName } from "../../shared/attest/certificates.ts";
import { nodeSubject, recordedCertificate } from "../../shared/attest/node-certificate.ts";
import type { RenewClaims } from "../../shared/attest/session.ts";
import type { RefusalCode } from "../../shared/attest/verdict.ts";
import { conflictOf, inventory } from "../../shared/engine/inventory.ts";
import { loadRecord, updateRecord } from "../../shared/engine/records.ts";
import { approvedDigests } from "../../shared/fleet/binding.ts";
import type { ReasonOf } from "../../shared/fleet/condition.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { nodeNameIn } from "../../shared/fleet/installed-name.ts";
import { certificateWait, conflictWait, namesakeWait, type OwnerWait } from "../../shared/fleet/plan/owner-waits.ts";
import { withAttention } from "../../shared/fleet/plan/quarantine.ts";
import { type IdentityUse, identityUse, RENEWAL, renewalBar } from "../../shared/fleet/plan/renewal.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import { readCertificate } from "../../shared/formats/x509/certificate.ts";
import type { Deps } from "../../shared/runtime/deps.ts";

type Installed = NonNullable<DeviceRecord["installed"]>;

export type Admitted =
  | {
      readonly ok: true;
      readonly device: Device;
      readonly installed: Installed;
      readonly use: IdentityUse;
      /** The name that the node was installed with: a new one counts from the next provision. */
      readonly nodeName: string;
      readonly chassisSerial: string;
      readonly lakSpkiSha256: string;
    }
  | { readonly ok: false; readonly code: RefusalCode; readonly detail: string };

const no = (code: RefusalCode, detail: string): Admitted => ({ ok: false, code, detail });

/** Whether the session's certificates may be renewed now, by NetBox and the record read afresh. */
export async function admitted(deps: Deps, claims: RenewClaims): Promise<Admitted> {
  const { world } = deps;
  const device = await world.netbox.device(claims.deviceId);
  if (device === null) return no("inventory-unavailable", "the device is not to be found just now; try again");
  const { record } = await loadRecord(world.records, device);
  const ldevid = readCertificate(bytes(claims.ldevidCertificate));
  const lak = recordedCertificate(readCertificate(bytes(claims.lakCertificate)));
  const presented = { ldevid: recordedCertificate(ldevid), lak };
  const nowMs = world.clock.nowMs();
  const use = identityUse(record, presented, nowMs, world.settings.durations.identityOverlapMs);
  if (use === null)
    return no("identity-unknown", `the certificates are not those recorded for ${device.name} any more`);
  if (record.identity?.ldevid.serialNumber !== claims.recordedLdevid)
    return no("identity-changed", "another session renewed this identity since begin; start again at begin");
  const bar = renewalBar(device, record);
  if (bar !== null) return no(bar.code, bar.detail);
  const subject = nodeSubject(ldevid);
  const nodeName = subject && nodeNameIn(subject.commonName);
  const { installed } = record;
  if (subject === null || nodeName === null || installed === null)
    return no("identity-unknown", "the LDevID names no node");
  const fault = await deviceFault(deps, device, { ...subject, nodeName });
  if (fault === null)
    return { ok: true, device, installed, use, nodeName, chassisSerial: device.serial, lakSpkiSha256: lak.spkiSha256 };
  // The node proved itself and waits for a person: its page, journal and fleetctl say the same words.
  await updateRecord(world, device, (r) => withAttention(r, fault.code, fault.detail, RENEWAL, nowMs));
  return no(fault.code, fault.detail);
}

/** What NetBox or git says of the device that its certificates contradict. */
async function deviceFault(
  { world }: Deps,
  device: Device,
  node: { readonly commonName: string; readonly nodeName: string; readonly chassisSerial: string },
): Promise<OwnerWait<ReasonOf<"MachineWaits">> | null> {
  const approvedCommonName = nodeCommonName(node.nodeName, approvedDigests(device.approvedEks));
  const wait = certificateWait(device, { ...node, approvedCommonName }, (await world.policy.current()).ekPins);
  if (wait !== null) return wait;
  const fleet = await inventory(world);
  const conflict = await conflictOf(world, device.id, fleet);
  return conflictWait(device, conflict) ?? namesakeWait(device, node.nodeName, fleet);
}
