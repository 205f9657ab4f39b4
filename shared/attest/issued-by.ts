import type { HashName } from "../crypto/hash.ts";
import { verifyEcdsaDer, verifyRsassa } from "../crypto/verify.ts";
import { FormatError } from "../formats/error.ts";
import { basicConstraints, type Certificate, extensionOf, keyUsages } from "../formats/x509/certificate.ts";
import { OID } from "../formats/x509/oids.ts";

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

/** Why a certificate may not have issued another with so many CAs below it; null where it may. */
export function issuerProblem(issuer: Certificate, casBelow: number): string | null {
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

/** Whether the issuer signed it, over the bytes as they came: a certificate that is written anew is another one. */
export function isSignedBy(certificate: Certificate, issuer: Certificate): boolean {
  const algorithm = algorithms[certificate.signatureAlgorithm];
  const key = issuer.publicKey;
  if (!algorithm || !key || algorithm.type !== key.type) return false;
  if (key.type === "rsa") return verifyRsassa(key, algorithm.hash, certificate.tbs, certificate.signature);
  return verifyEcdsaDer(key, algorithm.hash, certificate.tbs, certificate.signature);
}
