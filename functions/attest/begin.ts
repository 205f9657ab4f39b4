import type { Context } from "hono";
import { bindEks } from "../../shared/attest/ek-binding.ts";
import { type EkRoots, ekRootsOf, showEkCertificate } from "../../shared/attest/ek-shown.ts";
import { fromBase64, toBase64 } from "../../shared/attest/hex.ts";
import { judgeAk, judgeLdevid, nameOf } from "../../shared/attest/keys.ts";
import { makeCredential } from "../../shared/attest/make-credential.ts";
import { profileNamed, quoteAsked } from "../../shared/attest/profile-named.ts";
import type { EvidenceClaims } from "../../shared/attest/session.ts";
import { sessionKey } from "../../shared/attest/session-key.ts";
import type { Refusal } from "../../shared/attest/verdict.ts";
import { bindingsOf, installConflictOf, inventory } from "../../shared/engine/inventory.ts";
import { parseRecord } from "../../shared/engine/records.ts";
import { approvedDigests, outsidePins } from "../../shared/fleet/binding.ts";
import { isSerial, isUuid } from "../../shared/fleet/conflicts.ts";
import { type Device, isExpected } from "../../shared/fleet/device.ts";
import { isoTime } from "../../shared/fleet/moment.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import { identityFault } from "../../shared/fleet/same-machine.ts";
import { BODY_BYTES, readJson } from "../../shared/runtime/body.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { peerOf } from "../../shared/runtime/peer.ts";
import { problem } from "../../shared/runtime/problem.ts";
import { newSession } from "../../shared/runtime/session.ts";
import { type Areas, readAreas } from "./areas.ts";
import { type Claim, type ClaimCode, keepClaim } from "./claims.ts";
import { judgedClass } from "./judged-class.ts";
import { acceptedRecord } from "./machine-now.ts";
import { beginRequest } from "./schema.ts";

type Found =
  | { readonly ok: true; readonly device: Device; readonly record: DeviceRecord | null }
  | { readonly ok: false; readonly code: ClaimCode; readonly detail: string; readonly device: Device | null };

async function findDevice(deps: Deps, serial: string, uuid: string): Promise<Found> {
  const devices = await inventory(deps.world);
  const all = devices.filter((d) => d.serial.toLowerCase() === serial.toLowerCase());
  const live = all.filter((d) => d.status !== "offline");
  const [device] = live.length > 0 ? live : all;
  const no = (code: ClaimCode, detail: string): Found => ({ ok: false, code, detail, device: device ?? null });
  if (device === undefined)
    return no("unknown-serial", `no device of the fleet has serial ${serial}: declare it in NetBox`);
  if (live.length > 1) return no("ambiguous-serial", `${live.length} devices have serial ${serial}: correct NetBox`);
  const conflict = await installConflictOf(deps.world, device.id, devices);
  if (conflict !== null) return no("inventory-conflict", `${device.name} ${conflict}: correct NetBox`);
  if (!isExpected(device.status)) return no("not-expected", `${device.name} is ${device.status}: set it planned first`);
  const holders = await deps.world.records.byUuid(uuid);
  // A record outlives its device, and a board the row it was in; one that moved on to another row is that row's.
  const others = devices.filter((d) => d.id !== device.id && d.status !== "offline");
  const known = bindingsOf(others, new Map(holders.map((r) => [r.deviceId, parseRecord(r)])));
  if ([...known.values()].some((one) => one.uuid === uuid))
    return no("uuid-conflict", `another device has UUID ${uuid}`);
  const own = await deps.world.records.get(device.id);
  return { ok: true, device, record: own === null ? null : parseRecord(own) };
}

/** The bank and PCRs that the class's profile wants. */
async function quoteOf(deps: Deps, device: Device, record: DeviceRecord | null) {
  const cls = await judgedClass(deps, device, record);
  const profile = profileNamed(await deps.world.policy.current(), cls?.profile ?? null);
  return {
    unsupported: cls?.attestation === "unsupported",
    ...quoteAsked(profile),
  };
}

/** What a person can do about EKs that do not fit; digests stand in the claim, not in the sentence. */
function bindingAdvice({ code, detail }: Refusal, name: string): string {
  switch (code) {
    case "ek-not-approved":
      return `none of this TPM's EKs is approved for ${name}: compare the claim with the supplier's record or a receiving scan`;
    case "ek-missing":
      return `an approved EK of ${name} was not presented: it is another TPM, or approved_eks names a key too many`;
    default:
      return detail;
  }
}

function shownOf(
  { digest, certificate }: Areas["presented"][number],
  roots: EkRoots | null,
): Pick<Claim["eks"][number], "issuer" | "says"> {
  if (certificate === null) return { issuer: null, says: null };
  const shown = showEkCertificate(fromBase64(certificate) ?? new Uint8Array(0), roots, digest);
  return { issuer: shown.issuer, says: shown.text };
}

function certificateOf(presented: Areas["presented"], digest: string): { certificate?: string } {
  const certificate = presented.find((ek) => ek.digest === digest)?.certificate ?? null;
  return certificate === null ? {} : { certificate };
}

/** POST /attest/v1/begin: EKs and key areas in; one credential for each approved EK, a nonce and a session out. */
export async function begin(deps: Deps, c: Context): Promise<Response> {
  const body = await readJson(c, beginRequest, BODY_BYTES);
  if (!body.ok) return body.response;
  const ask = body.value;
  if (ask.tpm.family === "1.2") return problem("tpm-1.2", "a TPM 1.2 cannot attest; its class wipes only");
  const uuid = ask.uuid.toLowerCase();
  if (!isSerial(ask.serial))
    return problem("bad-request", "serial: is empty, a placeholder or all zero", { field: "serial" });
  if (ask.uuid !== uuid || !isUuid(uuid))
    return problem("bad-request", "uuid: is a placeholder, all zero, or not lower case", { field: "uuid" });
  const { world } = deps;
  const areas = readAreas(ask);
  if (!areas.ok) return problem("bad-request", `${areas.field}: ${areas.why}`, { field: areas.field });
  const { presented } = areas;
  const { ekPins, ekRoots } = await world.policy.current();
  const roots = ekRootsOf(ekRoots, world.clock.nowMs());
  const found = await findDevice(deps, ask.serial, uuid);
  const wait = async (code: ClaimCode, detail: string, device: Device | null) => {
    await keepClaim(
      deps,
      {
        serial: ask.serial,
        uuid,
        eks: presented.map((ek) => ({ digest: ek.digest, certificate: ek.certificate, ...shownOf(ek, roots) })),
        device: device?.name ?? null,
        code,
        detail,
        at: isoTime(world.clock.nowMs()),
        peer: peerOf(c, deps.trustedProxies),
      },
      device,
    );
    return problem(code, detail);
  };
  if (!found.ok) return wait(found.code, found.detail, found.device);
  const { device } = found;
  const approved = approvedDigests(device.approvedEks);
  if (outsidePins(ekPins, device.name, approved))
    return wait("ek-not-pinned", "a NetBox binding lies outside FLEET_EK_PINS", device);
  const bound = bindEks(approved, presented);
  if (!bound.ok) return wait(bound.refusal.code, bindingAdvice(bound.refusal, device.name), device);
  const record = found.record && (await acceptedRecord(deps, device, found.record));
  const changed = identityFault(device, record, uuid);
  if (changed !== null) return wait(changed.code, changed.detail, device);
  const wrongKey = judgeAk(areas.ak) ?? judgeLdevid(areas.ldevid);
  if (wrongKey !== null) return problem(wrongKey.code, wrongKey.detail);
  const { unsupported, bank, select } = await quoteOf(deps, device, record);
  if (unsupported) return problem("unsupported-class", `class ${device.fleetClass} cannot attest`);
  const random = (n: number) => world.entropy.bytes(n);
  const nonce = random(32);
  const name = nameOf(areas.ak);
  const challenges = bound.eks.map((ek) => {
    const secret = random(32);
    return { ek, secret, credential: makeCredential({ ekPublic: ek.public, name, secret, random }) };
  });
  const claims: EvidenceClaims = {
    step: "evidence",
    deviceId: device.id,
    serial: ask.serial,
    uuid,
    akPublic: ask.ak.public,
    ldevidPublic: ask.ldevid.public,
    ...(ask.ak.private === undefined ? {} : { akPrivate: ask.ak.private }),
    ...(ask.ldevid.private === undefined ? {} : { ldevidPrivate: ask.ldevid.private }),
    nonce: toBase64(nonce),
    bank,
    select,
    eks: challenges.map(({ ek, secret }) => ({
      digest: ek.digest,
      public: toBase64(ek.public),
      secret: toBase64(secret),
      ...certificateOf(presented, ek.digest),
    })),
  };
  return c.json({
    session: await newSession(deps, sessionKey, claims),
    nonce: toBase64(nonce),
    pcrs: { bank, select },
    challenges: challenges.map(({ ek, credential }) => ({
      ek: ek.digest,
      credentialBlob: toBase64(credential.credentialBlob),
      secret: toBase64(credential.secret),
    })),
  });
}
