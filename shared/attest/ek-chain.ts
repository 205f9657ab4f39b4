import type { HashName } from "../crypto/hash.ts";
import { verifyEcdsaDer, verifyRsassa } from "../crypto/verify.ts";
import { FormatError } from "../formats/error.ts";
import {
  basicConstraints,
  type Certificate,
  extensionOf,
  keyUsages,
  readCertificate,
} from "../formats/x509/certificate.ts";
import type { EkCertificate } from "../formats/x509/ek-certificate.ts";
import { OID } from "../formats/x509/oids.ts";
import { toHex } from "./hex.ts";

export interface EkChainResult {
  readonly ok: boolean;
  /** Subjects from the certificate to the root, as far as it went. */
  readonly path: readonly string[];
  /** Why it ended before a root; null when it did not. */
  readonly problem: string | null;
}

const MAX_DEPTH = 8;

const algorithms: Readonly<Record<string, { readonly type: "rsa" | "ec"; readonly hash: HashName }>> = {
  [OID.sha1WithRSAEncryption]: { type: "rsa", hash: "sha1" },
  [OID.sha256WithRSAEncryption]: { type: "rsa", hash: "sha256" },
  [OID.sha384WithRSAEncryption]: { type: "rsa", hash: "sha384" },
  [OID.sha512WithRSAEncryption]: { type: "rsa", hash: "sha512" },
  [OID["ecdsa-with-SHA1"]]: { type: "ec", hash: "sha1" },
  [OID["ecdsa-with-SHA256"]]: { type: "ec", hash: "sha256" },
  [OID["ecdsa-with-SHA384"]]: { type: "ec", hash: "sha384" },
  [OID["ecdsa-with-SHA512"]]: { type: "ec", hash: "sha512" },
};

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

function issuerProblem(issuer: Certificate, casBelow: number): string | null {
  try {
    const constraints = extensionOf(issuer, OID.basicConstraints);
    const read = constraints && basicConstraints(constraints);
    if (!read?.ca) return "not a CA";
    if (read.pathLength !== null && casBelow > read.pathLength) return "too many CAs below it";
    const usage = extensionOf(issuer, OID.keyUsage);
    return usage && !keyUsages(usage).includes("keyCertSign") ? "may not sign certificates" : null;
  } catch (error) {
    if (error instanceof FormatError) return error.message;
    throw error;
  }
}

function isSelfIssued(certificate: Certificate): boolean {
  return toHex(certificate.subject) === toHex(certificate.issuer);
}

// Over the bytes as they came: a certificate that is written anew is another one.
function isSignedBy(certificate: Certificate, issuer: Certificate): boolean {
  const algorithm = algorithms[certificate.signatureAlgorithm];
  const key = issuer.publicKey;
  if (!algorithm || !key || algorithm.type !== key.type) return false;
  if (key.type === "rsa") return verifyRsassa(key, algorithm.hash, certificate.tbs, certificate.signature);
  return verifyEcdsaDer(key, algorithm.hash, certificate.tbs, certificate.signature);
}
