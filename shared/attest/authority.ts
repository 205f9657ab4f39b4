import { digestHex } from "../crypto/hash.ts";
import { decode } from "../formats/codec.ts";
import { FormatError } from "../formats/error.ts";
import { EFI_SIGNATURE_DATA } from "../formats/eventlog/efi-signature-list.ts";
import type { EventRecord } from "../formats/eventlog/log.ts";
import { certificateSubject } from "../formats/x509/certificate.ts";
import type { BootPolicyProfile } from "./profile.ts";
import type { Authority, Check, Purpose } from "./verdict.ts";

/** An authority with where it was measured. */
export interface AuthorityEvent extends Authority {
  readonly record: number;
  readonly offset: number;
}

/** The variables whose authority events name a certificate. */
const KEY_VARIABLES: readonly string[] = ["db", "Shim", "vendor_db", "MokList", "MokListRT"];

const OWNER_BYTES = 16;

/** What an authority event names: a certificate behind its owner's GUID or, by old shims, bare; else no certificate. */
export function readAuthority(
  record: EventRecord,
  name: string,
  data: Uint8Array,
  beforeSeparator: boolean,
): AuthorityEvent {
  const owned = data.length > OWNER_BYTES ? decode(EFI_SIGNATURE_DATA, data, "EFI_SIGNATURE_DATA").signatureData : data;
  const at = { name, pcr: record.pcrIndex, beforeSeparator, record: record.record, offset: record.offset };
  for (const candidate of [owned, data]) {
    const subject = subjectOf(candidate);
    if (subject !== null) return { ...at, subject, sha256: digestHex("sha256", candidate) };
  }
  return { ...at, subject: null, sha256: digestHex("sha256", data) };
}

/**
 * Whether what ran is what the profile accepts at this stage: every certificate after the separator counts, since an
 * order of measurements proves nothing.
 * @see spec/20-verification.md "PCR 7 and boot policy", 2 and 4
 */
export function authorityChecks(
  authorities: readonly AuthorityEvent[],
  dbCertificates: ReadonlySet<string>,
  profile: BootPolicyProfile,
  purpose: Purpose,
): Check[] {
  const after = authorities.filter((one) => !one.beforeSeparator);
  const checks = after.map((one) => authorityCheck(one, dbCertificates, profile, purpose));
  if (after.length === 0) {
    checks.push({
      name: "authority",
      ok: false,
      code: "authority-not-accepted",
      seen: "no authority after the separator",
      expected: "at least one",
    });
  }
  const { beforeSeparator } = profile;
  if (beforeSeparator === null) return checks;
  for (const one of authorities.filter((authority) => authority.beforeSeparator)) {
    const ok = one.subject !== null && beforeSeparator.includes(one.sha256);
    checks.push(
      judged("authority-before-separator", ok, "authority-not-accepted", one, "one of the profile's beforeSeparator"),
    );
  }
  return checks;
}

function authorityCheck(
  one: AuthorityEvent,
  dbCertificates: ReadonlySet<string>,
  profile: BootPolicyProfile,
  purpose: Purpose,
): Check {
  const refused = (expected: string): Check => judged("authority", false, "authority-not-accepted", one, expected);
  if (!KEY_VARIABLES.includes(one.name)) return refused(`one of ${KEY_VARIABLES.join(", ")}`);
  if (one.subject === null) return refused("a certificate, not an image's hash");
  if (one.name === "db" && !dbCertificates.has(one.sha256)) return refused("a certificate of the measured db");
  const accepted = profile.authorities.find((authority) => authority.sha256 === one.sha256);
  if (!accepted) return refused(`an authority of profile ${profile.name}`);
  if (purpose === "intake") {
    return judged("authority", accepted.for.includes("hookos"), "not-hookos", one, "an authority that signs HookOS");
  }
  return judged(
    "authority",
    accepted.for.includes("os"),
    "authority-not-accepted",
    one,
    "an authority of installed systems",
  );
}

function judged(
  name: string,
  ok: boolean,
  code: "authority-not-accepted" | "not-hookos",
  one: Authority,
  expected: string,
): Check {
  const seen = `${one.name}: ${one.subject ?? "no certificate"} (${one.sha256})`;
  return ok ? { name, ok, seen, expected } : { name, ok, code, seen, expected };
}

function subjectOf(bytes: Uint8Array): string | null {
  try {
    return certificateSubject(bytes);
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}
