import type { Context } from "hono";
import type { z } from "zod";
import { judgeBoot } from "../../shared/attest/boot.ts";
import { evidenceBundle } from "../../shared/attest/bundle-made.ts";
import { bytes } from "../../shared/attest/bytes.ts";
import { toBase64 } from "../../shared/attest/hex.ts";
import { type Issued, issueIdentity } from "../../shared/attest/issue.ts";
import { keptVerdict } from "../../shared/attest/kept-verdict.ts";
import { readPublic } from "../../shared/attest/keys.ts";
import { isStillAsked, profileNamed } from "../../shared/attest/profile-named.ts";
import { provenChecks } from "../../shared/attest/proven.ts";
import { readCommandLine } from "../../shared/attest/report.ts";
import { type RenewClaims, renewQualifyingData } from "../../shared/attest/session.ts";
import { sessionKey } from "../../shared/attest/session-key.ts";
import { firstFailure, type RefusalCode, type Verdict } from "../../shared/attest/verdict.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import { rememberVerdict } from "../../shared/engine/verdicts.ts";
import { approvedDigests } from "../../shared/fleet/binding.ts";
import { isoTime } from "../../shared/fleet/moment.ts";
import { afterRenewal, renewalBar, renewalTooEarly, withRenewedIdentity } from "../../shared/fleet/plan/renewal.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import type { TpmtPublic } from "../../shared/formats/tpm2/public.ts";
import { EVIDENCE_BODY_BYTES, readJson } from "../../shared/runtime/body.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { keepEvidence } from "../../shared/runtime/keep-evidence.ts";
import { problem } from "../../shared/runtime/problem.ts";
import { takeSession } from "../../shared/runtime/session.ts";
import { type Admitted, admitted } from "./admitted.ts";
import { lakArea, proofProblem, sentArea, stageOf } from "./proof.ts";
import { evidenceRequest, renewClaims } from "./schema.ts";

type Ask = z.output<typeof evidenceRequest>;
type Node = Extract<Admitted, { ok: true }>;

/** Judges the boot of the installed system by the class that was installed, and keeps the evidence. */
async function judge(deps: Deps, ask: Ask, claims: RenewClaims, node: Node): Promise<Verdict> {
  const { world } = deps;
  const { profile, secureBoot } = node.installed.class.class;
  const akPublic = lakArea(ask, claims) ?? new Uint8Array(0);
  const boot = judgeBoot({
    eventLog: bytes(ask.eventLog),
    bank: claims.bank,
    select: claims.select,
    pcrs: ask.pcrs,
    profile: profileNamed(await world.policy.current(), profile),
    purpose: "renewal",
    secureBoot,
    commandLine: readCommandLine(bytes(ask.report)),
    attest: bytes(ask.quote.attest),
  });
  const verdict = { ...boot, checks: [...provenChecks(stageOf(ask, claims, akPublic)), ...boot.checks] };
  const atMs = world.clock.nowMs();
  const ldevidPublic = ask.ldevid.public;
  const bundle = evidenceBundle({
    ...claims,
    device: node.device.name,
    at: isoTime(atMs),
    akPublic: toBase64(akPublic),
    ldevidPublic,
    expectedExtraData: renewQualifyingData(bytes(claims.nonce), bytes(ask.report), bytes(ldevidPublic)),
    sent: ask,
    verdict,
    secureBoot,
  });
  await keepEvidence(deps, node.device.name, atMs, bundle);
  return verdict;
}

interface Remembered {
  readonly record: DeviceRecord;
  /** Quarantined when the quote came: it was judged, nothing is issued. */
  readonly wasQuarantined: boolean;
}

async function remember(deps: Deps, claims: RenewClaims, node: Node, verdict: Verdict): Promise<Remembered> {
  const { world } = deps;
  const atMs = world.clock.nowMs();
  const { counters } = verdict;
  if (counters === null) throw new Error("a verified quote without counters");
  const kept = keptVerdict(verdict, "renewal", atMs);
  const { recordedLdevid } = claims;
  const of = { use: node.use, recordedLdevid, counters: { ...counters, lakSpkiSha256: node.lakSpkiSha256, atMs } };
  let wasQuarantined = false;
  const record = await rememberVerdict(world, node.device, kept, (r, massFailure) => {
    wasQuarantined = r.quarantine !== null;
    return afterRenewal(r, node.device, kept, { ...of, massFailure });
  });
  return { record, wasQuarantined };
}

/** Issues for a year and writes the identity down, or says what moved meanwhile. No answer comes before it. */
async function renew(
  deps: Deps,
  ask: Ask,
  claims: RenewClaims,
  node: Node,
  area: TpmtPublic,
): Promise<Issued | { readonly code: RefusalCode; readonly detail: string }> {
  const { world } = deps;
  const issued = await issueIdentity(world.signer, {
    deviceName: node.nodeName,
    chassisSerial: node.chassisSerial,
    trustDomain: world.settings.trustDomain,
    approvedEks: approvedDigests(node.device.approvedEks),
    ldevid: area,
    lak: readPublic(lakArea(ask, claims) ?? new Uint8Array(0)),
    nowMs: world.clock.nowMs(),
    lifetimeMs: world.settings.durations.identityMs,
    random: (count) => world.entropy.bytes(count),
  });
  const { recordedLdevid } = claims;
  const { run: installedRun, class: cls } = node.installed;
  const bootProven = cls.class.secureBoot !== "off";
  const { use, chassisSerial } = node;
  const about = { use, recordedLdevid, installedRun, chassisSerial, issued: issued.identity, bootProven };
  // A signer may work for long: its owner may have decommissioned the device since it was looked at.
  const device = await world.netbox.device(claims.deviceId);
  if (device === null) return { code: "inventory-unavailable", detail: "the device is not to be found just now" };
  const written = await updateRecord(world, device, (r) => withRenewedIdentity(r, device, about));
  if (written.identity?.ldevid.serialNumber === issued.identity.ldevid.serialNumber) return issued;
  const detail = `${device.name}'s record changed while this renewal went on; start again at begin`;
  return renewalBar(device, written) ?? { code: "identity-changed", detail };
}

/** POST /renew/v1/evidence: quote, log, report and new key in; verdict and the renewed certificates out. */
export async function evidence(deps: Deps, c: Context): Promise<Response> {
  const body = await readJson(c, evidenceRequest, EVIDENCE_BODY_BYTES);
  if (!body.ok) return body.response;
  const ask = body.value;
  const area = sentArea(ask);
  if (area === null) return problem("bad-request", "ldevid.public: is no TPM2B_PUBLIC", { field: "ldevid.public" });
  const session = await takeSession(deps, sessionKey, ask.session, renewClaims);
  if (!session.ok) return problem(session.code, session.detail);
  const { claims } = session;
  const unproven = proofProblem(ask, claims, area);
  if (unproven !== null)
    return problem(unproven.code, unproven.detail, { verdict: { result: "fail", checks: [unproven.check] } });
  const node = await admitted(deps, claims);
  if (!node.ok) return problem(node.code, node.detail);
  const { world } = deps;
  const profile = profileNamed(await world.policy.current(), node.installed.class.class.profile);
  if (!isStillAsked(profile, claims))
    return problem("session-expired", "the boot policy asks for another quote since begin; start again at begin");
  const verdict = await judge(deps, ask, claims, node);
  const { record, wasQuarantined } = await remember(deps, claims, node, verdict);
  const { name } = node.device;
  if (verdict.result === "fail") {
    const { code, detail } = firstFailure(verdict);
    return problem(code, detail, { verdict });
  }
  if (wasQuarantined) {
    const ends = "its quarantine ends with this passing quote; the next renewal renews";
    const stays = "it was quarantined by a quote of HookOS and stays so until one passes (desired_action attest)";
    return problem("quarantined", `${name}: ${record.quarantine === null ? ends : stays}`, { verdict });
  }
  const nowMs = world.clock.nowMs();
  const fromMs = renewalTooEarly(record, node.use, nowMs, world.settings.durations.renewIntervalMs);
  if (fromMs !== null) {
    const detail = `${name}'s quote passed; its identity is too young to be renewed before ${isoTime(fromMs)}`;
    return problem("rate-limited", detail, { verdict }, Math.ceil((fromMs - nowMs) / 1000));
  }
  const issued = await renew(deps, ask, claims, node, area);
  if ("code" in issued) return problem(issued.code, issued.detail);
  deps.log.info({ device: name, use: node.use, serial: issued.identity.ldevid.serialNumber }, "identity renewed");
  return c.json({ verdict, ldevid: issued.ldevidPem, lak: issued.lakPem });
}
