import type { Context } from "hono";
import { activationsFit } from "../../shared/attest/activation.ts";
import { judgeBoot } from "../../shared/attest/boot.ts";
import { evidenceBundle } from "../../shared/attest/bundle-made.ts";
import { bytes } from "../../shared/attest/bytes.ts";
import { ekCertificateCheck, ekRootsOf } from "../../shared/attest/ek-shown.ts";
import { toBase64 } from "../../shared/attest/hex.ts";
import { issueIdentity } from "../../shared/attest/issue.ts";
import { keptVerdict } from "../../shared/attest/kept-verdict.ts";
import { readPublic } from "../../shared/attest/keys.ts";
import { isStillAsked, profileNamed } from "../../shared/attest/profile-named.ts";
import { provenChecks } from "../../shared/attest/proven.ts";
import { readReport } from "../../shared/attest/report.ts";
import { attestQualifyingData, type ConfirmClaims, type EvidenceClaims } from "../../shared/attest/session.ts";
import { sessionKey } from "../../shared/attest/session-key.ts";
import { type Check, firstFailure, type Refusal, refusal, type Verdict } from "../../shared/attest/verdict.ts";
import { type QuoteStageInput, verifyQuoteStage } from "../../shared/attest/verify.ts";
import { loadFleet } from "../../shared/engine/records.ts";
import { rememberVerdict } from "../../shared/engine/verdicts.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { isoTime } from "../../shared/fleet/moment.ts";
import { afterIntake, earnsIdentity } from "../../shared/fleet/plan/quarantine.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import { keptChanges, needsChanges } from "../../shared/fleet/request.ts";
import { type IdentityFault, identityFault } from "../../shared/fleet/same-machine.ts";
import { EVIDENCE_BODY_BYTES, readJson } from "../../shared/runtime/body.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { keepEvidence } from "../../shared/runtime/keep-evidence.ts";
import { problem } from "../../shared/runtime/problem.ts";
import { newSession, takeSession } from "../../shared/runtime/session.ts";
import { judgedClass } from "./judged-class.ts";
import { recordMac } from "./mac.ts";
import { machineNow } from "./machine-now.ts";
import { confirmClaims, evidenceClaims, evidenceRequest } from "./schema.ts";

type Ask = ReturnType<typeof evidenceRequest.parse>;

/** What the quote stage is about: all of it from the token, but what was sent in this step. */
function stageOf(ask: Ask, claims: EvidenceClaims): QuoteStageInput {
  return {
    akPublic: bytes(claims.akPublic),
    quote: { attest: bytes(ask.quote.attest), signature: bytes(ask.quote.signature) },
    expectedExtraData: attestQualifyingData(bytes(claims.nonce), bytes(ask.report)),
    bank: claims.bank,
    select: claims.select,
    pcrs: ask.pcrs,
    ldevidPublic: bytes(claims.ldevidPublic),
    certify: { attest: bytes(ask.ldevidCertify.attest), signature: bytes(ask.ldevidCertify.signature) },
  };
}

/** Activations, quote, certify: the first failure ends it, names only itself, changes nothing. */
function proofProblem(ask: Ask, claims: EvidenceClaims): Refusal | null {
  const secrets = claims.eks.map((e) => bytes(e.secret));
  if (activationsFit(secrets, ask.activations.map(bytes))) return verifyQuoteStage(stageOf(ask, claims));
  return refusal("activation-failed", "activations", "another answer", ACTIVATED);
}

const ACTIVATED = "the secret of every challenge, in its order";

/** What was proven before the log was looked at, and what the EK certificates say. */
async function shownBefore(deps: Deps, ask: Ask, claims: EvidenceClaims): Promise<Check[]> {
  const { ekRoots } = await deps.world.policy.current();
  const roots = ekRootsOf(ekRoots, deps.world.clock.nowMs());
  const proven = claims.eks.map((ek) => ek.digest).join(", ");
  return [
    { name: "activations", ok: true, seen: proven, expected: ACTIVATED },
    ...claims.eks.flatMap(({ certificate, digest }) =>
      certificate === undefined ? [] : [ekCertificateCheck(bytes(certificate), roots, digest)],
    ),
    ...provenChecks(stageOf(ask, claims)),
  ];
}

interface Judged {
  readonly verdict: Verdict;
  /** What the class demands; null for a class that is not known. */
  readonly secureBoot: "required" | "off" | null;
}

/** null where class or profile ask for another quote than begin did. */
async function judge(
  deps: Deps,
  ask: Ask,
  claims: EvidenceClaims,
  device: Device,
  record: DeviceRecord,
): Promise<Judged | null> {
  const cls = await judgedClass(deps, device, record);
  const secureBoot = cls?.secureBoot ?? null;
  const profile = profileNamed(await deps.world.policy.current(), cls?.profile ?? null);
  if (!isStillAsked(profile, claims)) return null;
  const verdict = judgeBoot({
    eventLog: bytes(ask.eventLog),
    bank: claims.bank,
    select: claims.select,
    pcrs: ask.pcrs,
    profile,
    purpose: "intake",
    secureBoot,
    commandLine: readReport(bytes(ask.report)).commandLine,
    attest: bytes(ask.quote.attest),
  });
  const checks = [...(await shownBefore(deps, ask, claims)), ...verdict.checks];
  return { verdict: { ...verdict, checks }, secureBoot };
}

function ekCertificates(claims: EvidenceClaims): string[] {
  return claims.eks.flatMap(({ certificate }) => (certificate === undefined ? [] : [certificate]));
}

function keep(deps: Deps, { name }: Device, ask: Ask, claims: EvidenceClaims, judged: Judged): Promise<void> {
  const atMs = deps.world.clock.nowMs();
  const expectedExtraData = attestQualifyingData(bytes(claims.nonce), bytes(ask.report));
  const of = { device: name, at: isoTime(atMs), sent: ask, expectedExtraData, ...judged };
  const made = evidenceBundle({ ...claims, ...of, ekCertificates: ekCertificates(claims) });
  return keepEvidence(deps, name, atMs, made);
}

/** Writes the verdict to the record, without which there is no certificate; a fault where another machine passed meanwhile. */
async function remember(
  deps: Deps,
  device: Device,
  { claims, begunAtMs }: { readonly claims: EvidenceClaims; readonly begunAtMs: number },
  verdict: Verdict,
): Promise<IdentityFault | null> {
  const kept = keptVerdict(verdict, "intake", deps.world.clock.nowMs());
  let fault: IdentityFault | null = null;
  await rememberVerdict(deps.world, device, kept, (record, massFailure) => {
    fault = identityFault(device, record, claims.uuid);
    return fault === null ? afterIntake(record, device, kept, { uuid: claims.uuid, massFailure, begunAtMs }) : null;
  });
  return fault;
}

const isCertified = ({ status }: Device): boolean => status === "planned" || status === "active";

async function certificates(deps: Deps, device: Device, record: DeviceRecord, claims: EvidenceClaims) {
  if (!isCertified(device)) return null;
  const { world } = deps;
  const { durations, netboxUser } = world.settings;
  const changes = needsChanges(device, record) ? await world.netbox.changes(device.id) : keptChanges(device, record);
  const { fleet } = await loadFleet(world);
  const lasting = earnsIdentity(device, record, { changes, netboxUser, epochMs: fleet.epochMs });
  return issueIdentity(world.signer, {
    deviceName: device.name,
    chassisSerial: device.serial,
    trustDomain: world.settings.trustDomain,
    approvedEks: claims.eks.map((e) => e.digest),
    ldevid: readPublic(bytes(claims.ldevidPublic)),
    lak: readPublic(bytes(claims.akPublic)),
    nowMs: world.clock.nowMs(),
    lifetimeMs: lasting ? durations.identityMs : durations.visitIdentityMs,
    random: (count) => world.entropy.bytes(count),
  });
}

/** Certificates for the machine as NetBox has it before and after the signer's work: each may have taken its time. */
async function certified(deps: Deps, claims: EvidenceClaims, name: string) {
  const named = async () => {
    const now = await machineNow(deps, claims);
    if (!now.ok || now.device.name === name) return now;
    return { ok: false, code: "identity-changed", detail: `${name} is ${now.device.name} now; start again` } as const;
  };
  const now = await named();
  if (!now.ok) return now;
  const issued = await certificates(deps, now.device, now.record, claims);
  const after = await named();
  return after.ok ? ({ ok: true, issued: isCertified(after.device) ? issued : null } as const) : after;
}

/** POST /attest/v1/evidence: recovered secrets, quote, log and report in; verdict, certificates and the next session out. */
export async function evidence(deps: Deps, c: Context): Promise<Response> {
  const body = await readJson(c, evidenceRequest, EVIDENCE_BODY_BYTES);
  if (!body.ok) return body.response;
  const ask = body.value;
  const session = await takeSession(deps, sessionKey, ask.session, evidenceClaims);
  if (!session.ok) return problem(session.code, session.detail);
  const claims = session.claims as EvidenceClaims;
  const unproven = proofProblem(ask, claims);
  if (unproven !== null)
    return problem(unproven.code, unproven.detail, { verdict: { result: "fail", checks: [unproven.check] } });
  const report = readReport(bytes(ask.report));
  if (report.uuid !== claims.uuid)
    return problem("uuid-conflict", "the signed report names another UUID than begin did");
  const { world } = deps;
  const before = await machineNow(deps, claims);
  if (!before.ok) return problem(before.code, before.detail);
  const { device } = before;
  const judged = await judge(deps, ask, claims, device, before.record);
  if (judged === null)
    return problem("session-expired", "the boot policy asks for another quote since begin; start again at begin");
  const { verdict } = judged;
  await keep(deps, device, ask, claims, judged);
  const now = await machineNow(deps, claims);
  if (!now.ok) return problem(now.code, now.detail);
  const moved = await remember(deps, now.device, { claims, begunAtMs: session.begunAtMs }, verdict);
  if (moved !== null) return problem(moved.code, moved.detail);
  if (verdict.result === "fail") {
    const { code, detail } = firstFailure(verdict);
    return problem(code, detail, { verdict });
  }
  const mac = await recordMac(deps, device, report.mac);
  if (mac !== null) return problem(mac.code, mac.detail, { verdict });
  const answer = await certified(deps, claims, device.name);
  if (!answer.ok) return problem(answer.code, answer.detail);
  const { issued } = answer;
  const confirm = world.entropy.bytes(32);
  const next: ConfirmClaims = {
    ...claims,
    step: "confirm",
    eks: claims.eks.map(({ digest, public: area }) => ({ digest, public: area })),
    ldevid: issued?.ldevidPem ?? null,
    lak: issued?.lakPem ?? null,
    mac: report.mac,
    lldp: report.lldp === null ? null : toBase64(report.lldp),
    confirm: toBase64(confirm),
  };
  return c.json({
    verdict,
    ldevid: next.ldevid,
    lak: next.lak,
    session: await newSession(deps, sessionKey, confirmClaims.parse(next)),
    confirm: next.confirm,
  });
}
