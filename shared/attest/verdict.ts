/** Every code of the device protocol, in the order of its HTTP status. @see spec/10-protocol.md "Codes" */
export const REFUSAL_CODES = [
  "bad-request",
  "session-expired",
  "session-used",
  "unauthorized",
  "tpm-1.2",
  "unsupported-class",
  "ak-attributes",
  "ldevid-attributes",
  "ek-template",
  "activation-failed",
  "quote-invalid",
  "certify-invalid",
  "confirm-invalid",
  "renewal-signature-invalid",
  "pcr-zero",
  "boot-unverified",
  "event-log-missing",
  "event-log-malformed",
  "event-log-mismatch",
  "secure-boot-mismatch",
  "validation-off",
  "profile-missing",
  "authority-not-accepted",
  "not-hookos",
  "identity-unknown",
  "quarantined",
  "not-found",
  "config-missing",
  "unknown-serial",
  "ambiguous-serial",
  "not-expected",
  "ek-not-approved",
  "ek-missing",
  "ek-not-pinned",
  "inventory-conflict",
  "uuid-conflict",
  "mac-conflict",
  "interface-ambiguous",
  "switch-port-mismatch",
  "disk-serial-missing",
  "pin-incomplete",
  "class-unknown",
  "config-being-served",
  "no-request",
  "run-preparing",
  "slot",
  "protected",
  "control-planes-off",
  "name-invalid",
  "disk-missing",
  "request-held",
  "identity-changed",
  "not-planned",
  "nothing-to-accept",
  "method-not-allowed",
  "code-consumed",
  "length-required",
  "too-large",
  "rate-limited",
  "inventory-unavailable",
  "store-unavailable",
  "boot-plane-unavailable",
  "cluster-unavailable",
  "signer-unavailable",
] as const;

export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** One thing that was looked at: what was seen, what had to be there. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly code?: RefusalCode;
  readonly seen: string;
  readonly expected: string;
}

/** A no that is an ordinary answer: never thrown. */
export interface Refusal<Code extends RefusalCode = RefusalCode> {
  readonly code: Code;
  readonly detail: string;
  readonly check: Check;
}

/** A certificate (or image hash) that firmware or shim says it trusted an image by. */
export interface Authority {
  /** SHA-256 of the certificate; of the data where it is no certificate. */
  readonly sha256: string;
  readonly subject: string | null;
  readonly name: string;
  readonly pcr: number;
  readonly beforeSeparator: boolean;
}

/** What a quote says of the TPM's time; one LAK's values compare only with earlier ones of the same LAK. */
export interface Counters {
  readonly clock: string;
  readonly resetCount: number;
  readonly restartCount: number;
  readonly safe: boolean;
  readonly firmwareVersion: string;
}

export type Bank = "sha256" | "sha384";

export interface Verdict {
  readonly result: "pass" | "fail";
  readonly checks: readonly Check[];
  /** Every reason for a refusal, each once, in the order found. */
  readonly codes: readonly RefusalCode[];
  readonly bank: Bank;
  /** The quoted values: index → lower-case hex. */
  readonly pcrs: Readonly<Record<string, string>>;
  readonly authorities: readonly Authority[];
  /** Secure Boot as PCR 7 proves it; null where it proves nothing. */
  readonly secureBoot: boolean | null;
  readonly dbxHash: string | null;
  readonly sbatLevel: string | null;
  /** False where the class asks for no Secure Boot, or PCR 7 does not prove it on: the boot then proves nothing. */
  readonly bootProven: boolean;
  readonly profile: string | null;
  readonly purpose: Purpose;
  readonly counters: Counters | null;
}

export type Purpose = "intake" | "renewal";

/** A refusal with its one failed check. */
export function refusal<Code extends RefusalCode>(
  code: Code,
  name: string,
  seen: string,
  expected: string,
): Refusal<Code> {
  return {
    code,
    detail: failureText({ name, seen, expected }),
    check: { name, ok: false, code, seen, expected },
  };
}

function failureText({ name, seen, expected }: Pick<Check, "name" | "seen" | "expected">): string {
  return `${name}: ${seen}; expected ${expected}`;
}

/** What a failed verdict is told by: its first code, and the first check that failed. */
export function firstFailure({ codes, checks }: Pick<Verdict, "codes" | "checks">): Pick<Refusal, "code" | "detail"> {
  const failed = checks.find((check) => !check.ok);
  return { code: codes[0] ?? "quote-invalid", detail: failed ? failureText(failed) : "no check passed" };
}

/** The codes of failed checks, each once. */
export function codesOf(checks: readonly Check[]): RefusalCode[] {
  return [...new Set(checks.flatMap((check) => (!check.ok && check.code ? [check.code] : [])))];
}
