import type { Context } from "hono";
import { toBase64 } from "../../shared/attest/hex.ts";
import {
  nodeCertificateProblem,
  nodeSubject,
  readShownCertificate,
  recordedCertificate,
} from "../../shared/attest/node-certificate.ts";
import { profileNamed, quoteAsked } from "../../shared/attest/profile-named.ts";
import type { RenewClaims } from "../../shared/attest/session.ts";
import { sessionKey } from "../../shared/attest/session-key.ts";
import { inventory } from "../../shared/engine/inventory.ts";
import { loadRecord } from "../../shared/engine/records.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { identityUse, isOldRow, type PresentedIdentity, renewalBar } from "../../shared/fleet/plan/renewal.ts";
import type { DeviceRecord, IdentityRecord } from "../../shared/fleet/record.ts";
import { BODY_BYTES, readJson } from "../../shared/runtime/body.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { problem } from "../../shared/runtime/problem.ts";
import { newSession } from "../../shared/runtime/session.ts";
import { beginRequest } from "./schema.ts";

const UNKNOWN = "enter them with fleetctl adopt, or provision the machine again";

/** The device that has these certificates recorded; the inventory's copy may be 30 s old, and evidence reads afresh. */
async function findRecorded(
  deps: Deps,
  chassisSerial: string,
  presented: PresentedIdentity,
): Promise<{ device: Device; record: DeviceRecord; identity: IdentityRecord } | null> {
  const { world } = deps;
  const { identityOverlapMs } = world.settings.durations;
  for (const device of await inventory(world)) {
    if (device.serial.toLowerCase() !== chassisSerial.toLowerCase()) continue;
    const { record } = await loadRecord(world.records, device);
    const { identity } = record;
    if (identity !== null && identityUse(record, presented, world.clock.nowMs(), identityOverlapMs) !== null)
      return { device, record, identity };
  }
  return null;
}

/** POST /renew/v1/begin: the recorded certificates in; a nonce, what to quote, and a session out. */
export async function begin(deps: Deps, c: Context): Promise<Response> {
  const body = await readJson(c, beginRequest, BODY_BYTES);
  if (!body.ok) return body.response;
  const { world } = deps;
  const ldevid = readShownCertificate(body.value.ldevid);
  if (ldevid === null) return problem("bad-request", "ldevid: is no certificate", { field: "ldevid" });
  const lak = readShownCertificate(body.value.lak);
  if (lak === null) return problem("bad-request", "lak: is no certificate", { field: "lak" });
  const trusted = await world.signer.trusted();
  const nowMs = world.clock.nowMs();
  for (const [kind, certificate] of [
    ["ldevid", ldevid],
    ["lak", lak],
  ] as const) {
    const wrong = nodeCertificateProblem(kind, certificate, trusted, nowMs);
    if (wrong !== null) return problem("identity-unknown", `${kind}: ${wrong}`);
  }
  const subject = nodeSubject(ldevid);
  const presented = { ldevid: recordedCertificate(ldevid), lak: recordedCertificate(lak) };
  const found = subject && (await findRecorded(deps, subject.chassisSerial, presented));
  if (!found)
    return problem("identity-unknown", `these certificates are not the recorded ones of a device: ${UNKNOWN}`);
  const { record } = found;
  // The copy may be of before fleetd's own last write.
  const device = isOldRow(found.device, record)
    ? ((await world.netbox.device(found.device.id)) ?? found.device)
    : found.device;
  const bar = renewalBar(device, record);
  if (bar !== null) return problem(bar.code, bar.detail);
  const profile = record.installed?.class.class.profile ?? null;
  const asked = quoteAsked(profileNamed(await world.policy.current(), profile));
  const claims: RenewClaims = {
    step: "renew",
    deviceId: device.id,
    nonce: toBase64(world.entropy.bytes(32)),
    ...asked,
    ldevidCertificate: toBase64(ldevid.raw),
    lakCertificate: toBase64(lak.raw),
    recordedLdevid: found.identity.ldevid.serialNumber,
  };
  return c.json({ session: await newSession(deps, sessionKey, claims), nonce: claims.nonce, pcrs: asked });
}
