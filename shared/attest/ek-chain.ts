import { type Certificate, readCertificate } from "../formats/x509/certificate.ts";
import type { EkCertificate } from "../formats/x509/ek-certificate.ts";
import { OID } from "../formats/x509/oids.ts";
import { toHex } from "./hex.ts";
import { isSignedBy, issuerProblem } from "./issued-by.ts";

export interface EkChainResult {
  readonly ok: boolean;
  /** Subjects from the certificate to the root, as far as it went. */
  readonly path: readonly string[];
  /** Why it ended before a root; null when it did not. */
  readonly problem: string | null;
}

const MAX_DEPTH = 8;

/**
 * Reads the manufacturers' certificates: those that sign themselves are roots, the others intermediates.
 * @throws FormatError
 */
export function readEkRoots(certificates: readonly Uint8Array[]): Certificate[] {
  return certificates.map((der) => readCertificate(der));
}

/**
 * Whether an EK certificate chains to a manufacturer's root: for a person to see, since the approved key is the trust.
 * @see spec/20-verification.md "EK certificates"
 */
export function ekChain(ek: EkCertificate, authorities: readonly Certificate[], nowMs: number): EkChainResult {
  const path = [ek.certificate.subjectText];
  const no = (problem: string): EkChainResult => ({ ok: false, path, problem });
  const wrongUse = leafProblem(ek);
  if (wrongUse) return no(wrongUse);
  let current = ek.certificate;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    if (nowMs < current.notBeforeMs || nowMs > current.notAfterMs) return no(`not valid now: ${current.subjectText}`);
    if (depth > 0 && isSelfIssued(current)) {
      return isSignedBy(current, current) ? { ok: true, path, problem: null } : no("a root that does not sign itself");
    }
    const named = authorities.filter((one) => toHex(one.subject) === toHex(current.issuer));
    if (named.length === 0) return no(`issuer not known: ${current.issuerText}`);
    const issuer = named.find((one) => isSignedBy(current, one));
    if (!issuer) return no(`signature not of ${current.issuerText}`);
    const wrong = issuerProblem(issuer, depth);
    if (wrong) return no(`${issuer.subjectText}: ${wrong}`);
    path.push(issuer.subjectText);
    current = issuer;
  }
  return no(`more than ${MAX_DEPTH} certificates`);
}

function leafProblem(ek: EkCertificate): string | null {
  if (!ek.certificate.publicKey) return "a key that no TPM has";
  const { extendedKeyUsages, keyUsages: usages } = ek;
  if (extendedKeyUsages && !extendedKeyUsages.includes(OID["tcg-kp-EKCertificate"]))
    return "not for an EK (extKeyUsage)";
  if (usages && !usages.includes("keyEncipherment") && !usages.includes("keyAgreement"))
    return "not for an EK (keyUsage)";
  return null;
}

function isSelfIssued(certificate: Certificate): boolean {
  return toHex(certificate.subject) === toHex(certificate.issuer);
}
