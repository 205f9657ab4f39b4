import { childrenOf, type Der, expectTag, oidText, readDer, TAG } from "../der.ts";
import { FormatError } from "../error.ts";
import { nameText } from "./name.ts";
import { decodeSpki, type SpkiKey } from "./spki.ts";
import { readTime } from "./time.ts";

export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  /** The contents of extnValue. */
  readonly value: Uint8Array;
}

/** A certificate as it was received: nothing of it is ever written anew. */
export interface Certificate {
  readonly raw: Uint8Array;
  /** TBSCertificate: what the issuer signed. */
  readonly tbs: Uint8Array;
  /** The contents of the INTEGER, leading zeros and sign as they came. */
  readonly serialNumber: Uint8Array;
  readonly signatureAlgorithm: string;
  /** The issuer's signature, without the count of unused bits. */
  readonly signature: Uint8Array;
  /** Name, DER. */
  readonly issuer: Uint8Array;
  readonly issuerText: string;
  readonly subject: Uint8Array;
  readonly subjectText: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array;
  /** null where the key is of an algorithm that TPMs do not use. */
  readonly publicKey: SpkiKey | null;
  readonly extensions: readonly Extension[];
}

const S = "Certificate";

/**
 * Reads one certificate that is all of the bytes.
 * @throws FormatError
 * @see RFC 5280 section 4.1
 */
export function readCertificate(bytes: Uint8Array): Certificate {
  const { tbs, signatureAlgorithm, signature, rest } = fieldsOf(bytes);
  const serialNumber = expectTag(rest[0], TAG.INTEGER, `${S}.serialNumber`);
  const issuer = expectTag(rest[2], TAG.SEQUENCE, `${S}.issuer`);
  const validity = childrenOf(expectTag(rest[3], TAG.SEQUENCE, `${S}.validity`), `${S}.validity`);
  const subject = expectTag(rest[4], TAG.SEQUENCE, `${S}.subject`);
  const spki = expectTag(rest[5], TAG.SEQUENCE, `${S}.subjectPublicKeyInfo`);
  return {
    raw: bytes,
    tbs: tbs.raw,
    serialNumber: serialNumber.contents,
    signatureAlgorithm: algorithmName(signatureAlgorithm),
    signature: signature.contents.subarray(1),
    issuer: issuer.raw,
    issuerText: nameText(issuer.raw),
    subject: subject.raw,
    subjectText: nameText(subject.raw),
    notBeforeMs: timeOf(validity[0]),
    notAfterMs: timeOf(validity[1]),
    spki: spki.raw,
    publicKey: decodeSpki(spki.raw),
    extensions: extensionsOf(rest.find((field) => field.tag === 0xa3)),
  };
}

/**
 * The subject of what has a certificate's outer fields; the rest is left unread, for a certificate that counts only if
 * its digest is known.
 * @throws FormatError
 */
export function certificateSubject(bytes: Uint8Array): string {
  return nameText(expectTag(fieldsOf(bytes).rest[4], TAG.SEQUENCE, `${S}.subject`).raw);
}

/** The three outer fields, and those of TBSCertificate behind its version. */
function fieldsOf(bytes: Uint8Array) {
  const parts = childrenOf(expectTag(readDer(bytes, S), TAG.SEQUENCE, S), S);
  const tbs = expectTag(parts[0], TAG.SEQUENCE, `${S}.tbsCertificate`);
  const signatureAlgorithm = expectTag(parts[1], TAG.SEQUENCE, `${S}.signatureAlgorithm`);
  const signature = expectTag(parts[2], TAG.BIT_STRING, `${S}.signature`);
  if (parts.length !== 3) throw new FormatError("trailing", S, parts[3]?.offset ?? 0);
  const fields = childrenOf(tbs, `${S}.tbsCertificate`);
  return { tbs, signatureAlgorithm, signature, rest: fields[0]?.tag === 0xa0 ? fields.slice(1) : fields };
}

/** The certificate's extension of this type, or null. */
export function extensionOf(certificate: Certificate, oid: string): Extension | null {
  return certificate.extensions.find((one) => one.oid === oid) ?? null;
}

/**
 * Whether a certificate says that it is a CA, and how many CAs may stand below it.
 * @throws FormatError
 * @see RFC 5280 section 4.2.1.9
 */
export function basicConstraints(extension: Extension): { ca: boolean; pathLength: number | null } {
  const name = "basicConstraints";
  const fields = childrenOf(expectTag(readDer(extension.value, name), TAG.SEQUENCE, name), name);
  const ca = fields[0]?.tag === TAG.BOOLEAN && fields[0].contents[0] !== 0;
  const length = fields.find((field) => field.tag === TAG.INTEGER);
  // As many as 255 are not counted apart: no chain is as long.
  const pathLength = length?.contents.reduce((sum, octet) => Math.min(sum * 256 + octet, 255), 0) ?? null;
  return { ca, pathLength };
}

/** KeyUsage bits by their names. @see RFC 5280 section 4.2.1.3 */
const KEY_USAGES = [
  "digitalSignature",
  "nonRepudiation",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "keyCertSign",
  "cRLSign",
] as const;
export type KeyUsage = (typeof KEY_USAGES)[number];

/**
 * The usages that a keyUsage extension allows.
 * @throws FormatError
 */
export function keyUsages(extension: Extension): KeyUsage[] {
  const { contents } = expectTag(readDer(extension.value, "keyUsage"), TAG.BIT_STRING, "keyUsage");
  const octet = contents[1] ?? 0;
  return KEY_USAGES.filter((_, i) => ((octet >> (7 - i)) & 1) === 1);
}

/**
 * The purposes of an extKeyUsage extension.
 * @throws FormatError
 */
export function extendedKeyUsages(extension: Extension): string[] {
  const name = "extKeyUsage";
  return childrenOf(expectTag(readDer(extension.value, name), TAG.SEQUENCE, name), name).map((one) =>
    oidText(one, name),
  );
}

/**
 * The policies of a certificatePolicies extension.
 * @throws FormatError
 * @see RFC 5280 section 4.2.1.4
 */
export function policyIdentifiers(extension: Extension): string[] {
  const name = "certificatePolicies";
  return childrenOf(expectTag(readDer(extension.value, name), TAG.SEQUENCE, name), name).map((one) => {
    const [identifier] = childrenOf(expectTag(one, TAG.SEQUENCE, name), name);
    return oidText(expectTag(identifier, TAG.OID, name), name);
  });
}

function timeOf(element: Der | undefined): number {
  return readTime(expectTag(element, element?.tag ?? 0, `${S}.validity`), `${S}.validity`);
}

function algorithmName(algorithm: Der): string {
  const [oid] = childrenOf(algorithm, `${S}.signatureAlgorithm`);
  return oidText(expectTag(oid, TAG.OID, `${S}.signatureAlgorithm`), `${S}.signatureAlgorithm`);
}

function extensionsOf(field: Der | undefined): Extension[] {
  if (!field) return [];
  const name = `${S}.extensions`;
  const [all] = childrenOf(field, name);
  return childrenOf(expectTag(all, TAG.SEQUENCE, name), name).map((one) => {
    const parts = childrenOf(expectTag(one, TAG.SEQUENCE, name), name);
    const critical = parts[1]?.tag === TAG.BOOLEAN && parts[1].contents[0] !== 0;
    const value = expectTag(parts[parts.length - 1], TAG.OCTET_STRING, name);
    return { oid: oidText(expectTag(parts[0], TAG.OID, name), name), critical, value: value.contents };
  });
}
