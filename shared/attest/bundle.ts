import { FormatError } from "../formats/error.ts";
import { judgeBoot } from "./boot.ts";
import { type EkRoots, ekCertificateCheck } from "./ek-shown.ts";
import { fromBase64, toHex } from "./hex.ts";
import type { BootPolicyProfile } from "./profile.ts";
import { provenChecks } from "./proven.ts";
import { readCommandLine } from "./report.ts";
import { attestQualifyingData, renewQualifyingData } from "./session.ts";
import type { Bank, Check, Purpose, RefusalCode, Verdict } from "./verdict.ts";
import { type SignedStatement, verifyQuoteStage } from "./verify.ts";

/** The JSON of one attestation's inputs; binary fields are base64. @see spec/20-verification.md "Evidence bundles" */
export interface EvidenceBundle {
  readonly akPublic: string;
  readonly quote: { readonly attest: string; readonly signature: string };
  readonly expectedExtraData: string;
  /** bank → index → hex */
  readonly pcrs: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly eventLog: string;
  readonly request: { readonly bank: Bank; readonly select: readonly number[] };
  readonly ekCertificates?: readonly string[];
  readonly ldevidPublic?: string;
  readonly certify?: { readonly attest: string; readonly signature: string };
  readonly report?: string;
  /** The profile's name. */
  readonly profile?: string;
  readonly purpose?: Purpose;
  readonly secureBoot?: "required" | "off";
  readonly at?: string;
  readonly challenge?: { readonly nonce: string };
  readonly verdict?: Verdict;
}

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
  const shown: Check[] = bundle.ekCertificates.map((one) => ekCertificateCheck(one, options.ekRoots ?? null));
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
  const unproven = verifyQuoteStage(stage);
  if (unproven) return refused(unproven.check);
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
  const unjudged = profile === null ? [profileCheck(bundle.profile)] : [];
  return { verdict, codes: boot.codes, checks: [...shown, ...provenChecks(stage), ...boot.checks, ...unjudged], boot };
}

interface ReadBundle {
  readonly akPublic: Uint8Array;
  readonly quote: SignedStatement;
  readonly expectedExtraData: Uint8Array;
  readonly pcrs: EvidenceBundle["pcrs"];
  readonly eventLog: Uint8Array;
  readonly request: EvidenceBundle["request"];
  readonly ekCertificates: readonly Uint8Array[];
  readonly ldevidPublic: Uint8Array | null;
  readonly certify: SignedStatement | null;
  readonly report: Uint8Array | null;
  readonly profile: string | null;
  readonly purpose: Purpose;
  readonly secureBoot: "required" | "off" | null;
  readonly nonce: Uint8Array | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** The bundle's fields, or the name of the first that is none. */
function readBundle(value: unknown): ReadBundle | string {
  const fields = withoutNulls(fieldsOf(value));
  const quote = statement(fields?.quote);
  const akPublic = binary(fields?.akPublic);
  const expectedExtraData = binary(fields?.expectedExtraData);
  const eventLog = binary(fields?.eventLog);
  const request = requestOf(fields?.request);
  const pcrs = pcrsOf(fields?.pcrs);
  if (!fields) return "not an object";
  if (!akPublic) return "akPublic";
  if (!quote) return "quote";
  if (!expectedExtraData) return "expectedExtraData";
  if (!pcrs) return "pcrs";
  if (!eventLog) return "eventLog";
  if (!request) return "request";
  const certificates = fields.ekCertificates ?? [];
  const ekCertificates = Array.isArray(certificates) ? certificates.map(binary) : [null];
  const challenge = fields.challenge === undefined ? undefined : binary(fieldsOf(fields.challenge)?.nonce);
  const optional = {
    ldevidPublic: fields.ldevidPublic === undefined ? undefined : binary(fields.ldevidPublic),
    certify: fields.certify === undefined ? undefined : statement(fields.certify),
    report: fields.report === undefined ? undefined : binary(fields.report),
    challenge,
  };
  for (const [name, read] of Object.entries(optional)) if (read === null) return name;
  // A certification of nothing that is named would be left unread.
  if (optional.certify && !optional.ldevidPublic) return "ldevidPublic";
  if (ekCertificates.includes(null)) return "ekCertificates";
  const { profile, purpose, secureBoot } = fields;
  if (profile !== undefined && typeof profile !== "string") return "profile";
  if (purpose !== undefined && purpose !== "intake" && purpose !== "renewal") return "purpose";
  if (secureBoot !== undefined && secureBoot !== "required" && secureBoot !== "off") return "secureBoot";
  return {
    akPublic,
    quote,
    expectedExtraData,
    pcrs,
    eventLog,
    request,
    ekCertificates: ekCertificates.flatMap((one) => (one ? [one] : [])),
    ldevidPublic: optional.ldevidPublic ?? null,
    certify: optional.certify ?? null,
    report: optional.report ?? null,
    profile: profile ?? null,
    purpose: purpose ?? "intake",
    secureBoot: secureBoot ?? null,
    nonce: challenge ?? null,
  };
}

// A field that is null is one that is not there: writers of JSON differ in it.
function withoutNulls(fields: Fields | null): Fields | null {
  return fields && Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function fieldsOf(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

function binary(value: unknown): Uint8Array | null {
  return typeof value === "string" ? fromBase64(value) : null;
}

function statement(value: unknown): SignedStatement | null {
  const fields = fieldsOf(value);
  const attest = binary(fields?.attest);
  const signature = binary(fields?.signature);
  return attest && signature ? { attest, signature } : null;
}

function requestOf(value: unknown): EvidenceBundle["request"] | null {
  const fields = fieldsOf(value);
  const bank = fields?.bank;
  const select = fields?.select;
  if ((bank !== "sha256" && bank !== "sha384") || !Array.isArray(select)) return null;
  const pcrs = select.filter((pcr): pcr is number => Number.isInteger(pcr) && pcr >= 0 && pcr <= 23);
  return pcrs.length === select.length ? { bank, select: pcrs } : null;
}

function pcrsOf(value: unknown): EvidenceBundle["pcrs"] | null {
  const banks = fieldsOf(value);
  if (!banks) return null;
  for (const bank of Object.values(banks)) {
    const values = fieldsOf(bank);
    if (!values || Object.values(values).some((one) => typeof one !== "string")) return null;
  }
  return banks as EvidenceBundle["pcrs"];
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
