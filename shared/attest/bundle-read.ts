import { fromBase64 } from "./hex.ts";
import type { Bank, Purpose, Verdict } from "./verdict.ts";
import type { SignedStatement } from "./verify.ts";

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

export interface ReadBundle {
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
  /** The verdict that was recorded with it. */
  readonly recorded: Fields | null;
}

export type Fields = Readonly<Record<string, unknown>>;

const missing = (field: string): string => `${field}: is missing, or not of its form`;

/** The bundle's fields, or what is wrong with the first that is none. */
export function readBundle(value: unknown): ReadBundle | string {
  const fields = withoutNulls(fieldsOf(value));
  const quote = statement(fields?.quote);
  const akPublic = binary(fields?.akPublic);
  const expectedExtraData = binary(fields?.expectedExtraData);
  const eventLog = binary(fields?.eventLog);
  const request = requestOf(fields?.request);
  const pcrs = pcrsOf(fields?.pcrs);
  if (!fields) return "not an object";
  if (!akPublic) return missing("akPublic");
  if (!quote) return missing("quote");
  if (!expectedExtraData) return missing("expectedExtraData");
  if (!pcrs) return missing("pcrs");
  if (!eventLog) return missing("eventLog");
  if (!request) return missing("request");
  const certificates = fields.ekCertificates ?? [];
  const ekCertificates = Array.isArray(certificates) ? certificates.map(binary) : [null];
  const challenge = fields.challenge === undefined ? undefined : binary(fieldsOf(fields.challenge)?.nonce);
  const optional = {
    ldevidPublic: fields.ldevidPublic === undefined ? undefined : binary(fields.ldevidPublic),
    certify: fields.certify === undefined ? undefined : statement(fields.certify),
    report: fields.report === undefined ? undefined : binary(fields.report),
    challenge,
  };
  for (const [name, read] of Object.entries(optional)) if (read === null) return missing(name);
  // A certification of nothing that is named would be left unread.
  if (optional.certify && !optional.ldevidPublic) return "certify: without the ldevidPublic that it certifies";
  if (ekCertificates.includes(null)) return missing("ekCertificates");
  const { profile, purpose, secureBoot } = fields;
  if (profile !== undefined && typeof profile !== "string") return "profile: is no text";
  if (purpose !== undefined && purpose !== "intake" && purpose !== "renewal")
    return "purpose: is neither intake nor renewal";
  if (secureBoot !== undefined && secureBoot !== "required" && secureBoot !== "off")
    return "secureBoot: is neither required nor off";
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
    recorded: fieldsOf(fields.verdict),
  };
}

// A field that is null is one that is not there: writers of JSON differ in it.
function withoutNulls(fields: Fields | null): Fields | null {
  return fields && Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

export function fieldsOf(value: unknown): Fields | null {
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
