import type { Context } from "hono";
import { activationsFit } from "../../shared/attest/activation.ts";
import { judgeBoot } from "../../shared/attest/boot.ts";
import { evidenceBundle } from "../../shared/attest/bundle-made.ts";
import { bytes } from "../../shared/attest/bytes.ts";
import { ekCertificateCheck, ekRootsOf } from "../../shared/attest/ek-shown.ts";
import { toBase64 } from "../../shared/attest/hex.ts";
import { issueIdentity } from "../../shared/attest/issue.ts";
import { readPublic } from "../../shared/attest/keys.ts";
import { profileNamed } from "../../shared/attest/profile-named.ts";
import { provenChecks } from "../../shared/attest/proven.ts";
import { readReport } from "../../shared/attest/report.ts";
import { attestQualifyingData, type ConfirmClaims, type EvidenceClaims } from "../../shared/attest/session.ts";
import { sessionKey } from "../../shared/attest/session-key.ts";
import { type Check, type Refusal, refusal, type Verdict } from "../../shared/attest/verdict.ts";
import { type QuoteStageInput, verifyQuoteStage } from "../../shared/attest/verify.ts";
import { loadFleet, updateRecord } from "../../shared/engine/records.ts";
import { rememberVerdict } from "../../shared/engine/verdicts.ts";
import { type Device, isExpected } from "../../shared/fleet/device.ts";
import { afterIntake, earnsIdentity, withPendingIdentity } from "../../shared/fleet/plan/quarantine.ts";
import { isoTime } from "../../shared/fleet/plan/shown.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import { needsChanges } from "../../shared/fleet/request.ts";
import { EVIDENCE_BODY_BYTES, readJson } from "../../shared/runtime/body.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { keepEvidence } from "../../shared/runtime/keep-evidence.ts";
import { problem } from "../../shared/runtime/problem.ts";
import { newSession, takeSession } from "../../shared/runtime/session.ts";
import { judgedClass } from "./judged-class.ts";
import { recordMac } from "./mac.ts";
import { changedIdentity, isSameMachine } from "./same-machine.ts";
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
    ...ekCertificates(claims).map((certificate) => ekCertificateCheck(bytes(certificate), roots)),
    ...provenChecks(stageOf(ask, claims)),
  ];
}

interface Judged {
  readonly verdict: Verdict;
  /** What the class demands; null for a class that is not known. */
  readonly secureBoot: "required" | "off" | null;
}

async function judge(
  deps: Deps,
  ask: Ask,
  claims: EvidenceClaims,
  device: Device,
  record: DeviceRecord,
): Promise<Judged> {
  const cls = await judgedClass(deps, device, record);
  const secureBoot = cls?.secureBoot ?? null;
  const verdict = judgeBoot({
    eventLog: bytes(ask.eventLog),
    bank: claims.bank,
    select: claims.select,
    pcrs: ask.pcrs,
    profile: profileNamed(await deps.world.policy.current(), cls?.profile ?? null),
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

/** Writes the verdict to the record: without a record there is no certificate. */
async function remember(deps: Deps, device: Device, claims: EvidenceClaims, verdict: Verdict): Promise<DeviceRecord> {
  const { result, codes, dbxHash, sbatLevel } = verdict;
  const atMs = deps.world.clock.nowMs();
  const kept = { result, by: "intake" as const, atMs, codes: [...codes], dbxHash, sbatLevel };
  return rememberVerdict(deps.world, device, kept, (record, massFailure) =>
    afterIntake(record, device, kept, { uuid: claims.uuid, massFailure }),
  );
}

async function certificates(deps: Deps, device: Device, record: DeviceRecord, claims: EvidenceClaims) {
  if (device.status !== "planned" && device.status !== "active") return null;
  const { world } = deps;
  const { durations, netboxUser } = world.settings;
  const changes = needsChanges(device, record) ? await world.netbox.changes(device.id) : [];
  const { fleet } = await loadFleet(world);
  const lasting = earnsIdentity(device, record, { changes, netboxUser, epochMs: fleet.epochMs });
  const issued = await issueIdentity(world.signer, {
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
  if (lasting) await updateRecord(world, device, (r) => withPendingIdentity(r, issued.identity));
  return issued;
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
  const device = await world.netbox.device(claims.deviceId);
  if (device === null) return problem("inventory-unavailable", "the device is not to be found just now; try again");
  if (!isExpected(device.status)) return problem("not-expected", `${device.name} is ${device.status}`);
  if (!isSameMachine(device, claims))
    return problem("identity-changed", "serial or approved EKs changed since begin; start again");
  const before = await updateRecord(world, device, () => null);
  const changed = changedIdentity(device, before, claims.uuid);
  if (changed !== null) return problem(changed.code, changed.detail);
  const judged = await judge(deps, ask, claims, device, before);
  const { verdict } = judged;
  await keep(deps, device, ask, claims, judged);
  const record = await remember(deps, device, claims, verdict);
  if (verdict.result === "fail") {
    const first = verdict.checks.find((check) => !check.ok);
    return problem(verdict.codes[0] ?? "quote-invalid", `${first?.name}: ${first?.seen}; expected ${first?.expected}`, {
      verdict,
    });
  }
  const mac = await recordMac(deps, device, report.mac);
  if (mac !== null) return problem(mac.code, mac.detail, { verdict });
  const issued = await certificates(deps, device, record, claims);
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
