import { FormatError } from "../formats/error.ts";
import { judgeBoot } from "./boot.ts";
import { type Fields, type ReadBundle, readBundle } from "./bundle-read.ts";
import { type EkRoots, ekCertificateCheck } from "./ek-shown.ts";
import { toHex } from "./hex.ts";
import { judgeLdevid, readEitherPublic } from "./keys.ts";
import type { BootPolicyProfile } from "./profile.ts";
import { provenChecks } from "./proven.ts";
import { readCommandLine } from "./report.ts";
import { attestQualifyingData, renewQualifyingData } from "./session.ts";
import { type Check, type Purpose, type Refusal, type RefusalCode, refusal, type Verdict } from "./verdict.ts";
import { verifyQuoteStage } from "./verify.ts";

export interface BundleOptions {
  /** Judged by this policy, whatever the bundle names. */
  readonly profile?: BootPolicyProfile;
  /** Where a name in the bundle is looked up; a name that is not there is judged without a profile. */
  readonly profiles?: ReadonlyMap<string, BootPolicyProfile>;
  readonly purpose?: Purpose;
  /** The manufacturers' certificates; without them no chain is looked at. */
  readonly ekRoots?: EkRoots | null;
}

export interface BundleResult {
  readonly verdict: "accepted" | "refused" | "unreadable";
  readonly codes: readonly RefusalCode[];
  readonly checks: readonly Check[];
  /** The boot's verdict, where the quote held. */
  readonly boot: Verdict | null;
}

/**
 * Verifies recorded evidence anew, bit for bit: the quote stage first, and what follows only if it holds.
 * @see spec/20-verification.md "Evidence bundles"
 */
export function verifyBundle(value: unknown, options: BundleOptions = {}): BundleResult {
  const bundle = readBundle(value);
  if (typeof bundle === "string") {
    const check: Check = {
      name: "bundle",
      ok: false,
      code: "bad-request",
      seen: bundle,
      expected: "an evidence bundle",
    };
    return { verdict: "unreadable", codes: ["bad-request"], checks: [check], boot: null };
  }
  const shown: Check[] = bundle.ekCertificates.map((one) => ekCertificateCheck(one, options.ekRoots ?? null, null));
  const refused = (check: Check): BundleResult => {
    return { verdict: "refused", codes: check.code ? [check.code] : [], checks: [...shown, check], boot: null };
  };
  const purpose = options.purpose ?? bundle.purpose;
  const binding = bindingCheck(bundle);
  if (binding?.ok === false) return refused(binding);
  if (binding) shown.push(binding);
  const { bank, select } = bundle.request;
  const pcrs = bundle.pcrs[bank] ?? {};
  const { akPublic, quote, expectedExtraData, ldevidPublic, certify } = bundle;
  const certified = ldevidPublic && certify ? { ldevidPublic, certify } : {};
  const stage = { akPublic, quote, expectedExtraData, bank, select, pcrs, ...certified };
  const unproven = verifyQuoteStage(stage) ?? (ldevidPublic && !certify ? uncertifiedProblem(ldevidPublic) : null);
  if (unproven) return refused(unproven.check);
  if (ldevidPublic && !certify) shown.push(UNCERTIFIED);
  const commandLine = commandLineOf(bundle.report);
  if (typeof commandLine !== "string" && commandLine !== null) return refused(commandLine);
  const named = bundle.profile === null ? undefined : options.profiles?.get(bundle.profile);
  const profile = options.profile ?? named ?? null;
  const boot = judgeBoot({
    eventLog: bundle.eventLog,
    bank,
    select,
    pcrs,
    profile,
    withoutProfile: true,
    purpose,
    secureBoot: bundle.secureBoot,
    commandLine,
    attest: quote.attest,
  });
  const verdict = boot.result === "pass" ? "accepted" : "refused";
  const open = [
    ...(profile === null ? [profileCheck(bundle.profile)] : []),
    ...recordedCheck(bundle.recorded, boot.result),
  ];
  return { verdict, codes: boot.codes, checks: [...shown, ...provenChecks(stage), ...boot.checks, ...open], boot };
}

// Where the challenge is kept, the extraData follows from it and from the report that the AK signed with it: by what
// the bundle was made for, whatever it is judged for now.
function bindingCheck({ nonce, report, ldevidPublic, purpose, expectedExtraData }: ReadBundle): Check | null {
  const name = "challenge";
  const seen = toHex(expectedExtraData);
  const given = (why: string): Check => ({
    name,
    ok: true,
    seen: why,
    expected: "recorded only: the report is unbound",
  });
  if (!nonce || !report) return given("no challenge with a report: expectedExtraData is taken as given");
  if (toHex(nonce) === seen) return given("the nonce itself is what was quoted");
  const wrong = (expected: string): Check => ({ name, ok: false, code: "quote-invalid", seen, expected });
  if (purpose === "renewal" && !ldevidPublic) return wrong("the ldevidPublic that a renewal's challenge is bound to");
  const expected =
    purpose === "renewal" && ldevidPublic
      ? renewQualifyingData(nonce, report, ldevidPublic)
      : attestQualifyingData(nonce, report);
  return toHex(expected) === seen ? null : wrong(toHex(expected));
}

const UNCERTIFIED: Check = {
  name: "certify",
  ok: true,
  seen: "none",
  expected: "recorded only: nothing binds the LDevID key to this TPM",
};

function uncertifiedProblem(ldevidPublic: Uint8Array): Refusal | null {
  try {
    return judgeLdevid(readEitherPublic(ldevidPublic));
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return refusal("ldevid-attributes", "ldevid", error.message, "a TPM2B_PUBLIC");
  }
}

// The verdict of then, where it is another: it was judged by a profile or a class that is not at hand, or has changed.
function recordedCheck(recorded: Fields | null, now: "pass" | "fail"): Check[] {
  if (recorded === null || recorded.result === now) return [];
  const codes = Array.isArray(recorded.codes) ? recorded.codes.map(String).join(", ") : "";
  const by = typeof recorded.profile === "string" ? ` by profile ${recorded.profile}` : "";
  const seen = `${String(recorded.result)}${codes === "" ? "" : ` (${codes})`}${by}`;
  return [{ name: "recorded-verdict", ok: true, seen, expected: `recorded only: it is ${now} now` }];
}

// Evidence that nothing was said about: for the reader of an "accepted".
function profileCheck(named: string | null): Check {
  const seen = named === null ? "none" : `${named}, which is not at hand`;
  return { name: "profile", ok: true, seen, expected: "recorded only: no authority is judged" };
}

function commandLineOf(report: Uint8Array | null): string | null | Check {
  if (!report) return null;
  try {
    return readCommandLine(report);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return {
      name: "report",
      ok: false,
      code: "bad-request",
      seen: error.message,
      expected: "a report with a commandLine",
    };
  }
}
