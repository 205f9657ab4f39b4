import { FormatError } from "../formats/error.ts";
import {
  basicConstraints,
  type Certificate,
  extendedKeyUsages,
  extensionOf,
  keyUsages,
  policyIdentifiers,
  readCertificate,
} from "../formats/x509/certificate.ts";
import { directoryString, readName } from "../formats/x509/name.ts";
import { OID } from "../formats/x509/oids.ts";
import { readCertificatePems } from "../formats/x509/pem.ts";
import { fromBase64, toHex } from "./hex.ts";
import { isSignedBy, issuerProblem } from "./issued-by.ts";
import { spkiSha256 } from "./spki.ts";

export type NodeCertificateKind = "ldevid" | "lak";

const PURPOSES = { ldevid: OID.clientAuth, lak: OID["tcg-kp-AIKCertificate"] } as const;
const POLICIES = {
  ldevid: [OID["tcg-cap-verifiedTPMResidency"], OID["tcg-cap-verifiedTPMFixed"]],
  lak: [OID["tcg-cap-verifiedTPMResidency"], OID["tcg-cap-verifiedTPMRestricted"]],
} as const;

/** The first certificate of a PEM text (a node keeps leaf and chain in one), or of base64 of DER; null where it is none. */
export function readShownCertificate(text: string): Certificate | null {
  try {
    const der = text.includes("-----BEGIN") ? readCertificatePems(text)[0] : fromBase64(text.trim());
    return der ? readCertificate(der) : null;
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

/** Which of a node's two certificates it is by its purpose; null for any other, an issuer's too. */
export function nodeCertificateKind(certificate: Certificate): NodeCertificateKind | null {
  const extension = extensionOf(certificate, OID.extKeyUsage);
  const purposes = extension ? extendedKeyUsages(extension) : [];
  const kinds = (["ldevid", "lak"] as const).filter((kind) => purposes.includes(PURPOSES[kind]));
  return kinds.length === 1 ? (kinds[0] ?? null) : null;
}

/**
 * Why a certificate is no valid one of a node, or null: of a trusted issuer, within its time, for its purpose, with the
 * policies that say that the key was proven to live in a TPM.
 * @see spec/20-verification.md "Certificates issued"
 */
export function nodeCertificateProblem(
  kind: NodeCertificateKind,
  certificate: Certificate,
  trusted: readonly Uint8Array[],
  nowMs: number,
): string | null {
  try {
    const issuers = trusted
      .map((der) => readCertificate(der))
      .filter((one) => toHex(one.subject) === toHex(certificate.issuer));
    if (issuers.length === 0) return `its issuer is not trusted: ${certificate.issuerText}`;
    const issuer = issuers.find((one) => isSignedBy(certificate, one));
    if (!issuer) return `its signature is not of ${certificate.issuerText}`;
    const unfit = issuerProblem(issuer, 0);
    if (unfit) return `its issuer is ${unfit}`;
    for (const one of [certificate, issuer])
      if (nowMs < one.notBeforeMs || nowMs > one.notAfterMs) return `not valid now: ${one.subjectText}`;
    return profileProblem(kind, certificate);
  } catch (error) {
    if (error instanceof FormatError) return error.message;
    throw error;
  }
}

function profileProblem(kind: NodeCertificateKind, certificate: Certificate): string | null {
  const { publicKey } = certificate;
  if (!publicKey || (publicKey.type === "ec" && publicKey.curve === "P-521")) return "a key that no TPM here has";
  const constraints = extensionOf(certificate, OID.basicConstraints);
  if (constraints && basicConstraints(constraints).ca) return "a CA's certificate";
  const usage = extensionOf(certificate, OID.keyUsage);
  if (!usage || !keyUsages(usage).includes("digitalSignature")) return "not for signatures (keyUsage)";
  const purposes = extensionOf(certificate, OID.extKeyUsage);
  if (!purposes || !extendedKeyUsages(purposes).includes(PURPOSES[kind])) return `no ${kind} (extKeyUsage)`;
  const policies = extensionOf(certificate, OID.certificatePolicies);
  const held = policies ? policyIdentifiers(policies) : [];
  const lacking = POLICIES[kind].filter((policy) => !held.includes(policy));
  return lacking.length === 0 ? null : `without the policies ${lacking.join(", ")}`;
}

/** What a record keeps of a certificate. */
export interface RecordedCertificate {
  readonly serialNumber: string;
  readonly spkiSha256: string;
  readonly notAfterMs: number;
}

export function recordedCertificate({ serialNumber, spki, notAfterMs }: Certificate): RecordedCertificate {
  return { serialNumber: toHex(serialNumber), spkiSha256: spkiSha256(spki), notAfterMs };
}

/** What a record keeps of the two certificates of a node. */
export function recordedIdentity({ ldevid, lak }: { readonly ldevid: Certificate; readonly lak: Certificate }) {
  return {
    ldevid: recordedCertificate(ldevid),
    lak: recordedCertificate(lak),
    subject: ldevid.subjectText,
    issuedAtMs: ldevid.notBeforeMs,
  };
}

/** CN and chassis serial of a node's certificate; null where its subject has no single one of each. */
export function nodeSubject(certificate: Certificate): { commonName: string; chassisSerial: string } | null {
  const attributes = readName(certificate.subject).flat();
  const single = (type: string) => {
    const [first, ...more] = attributes.filter((one) => one.type === type);
    return first && more.length === 0 ? directoryString(first.value) : null;
  };
  const commonName = single(OID.commonName);
  const chassisSerial = single(OID.serialNumber);
  return commonName !== null && chassisSerial !== null ? { commonName, chassisSerial } : null;
}
