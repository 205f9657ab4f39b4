import { childrenOf, type Der, der, expectTag, oidText, readDer, TAG } from "../der.ts";
import { bitString, explicit, oid, printableString, sequence, unsignedInteger } from "../der-write.ts";
import { FormatError } from "../error.ts";
import { directoryString, readName } from "./name.ts";
import { OID } from "./oids.ts";

const ORGANIZATION = "2.5.4.10";
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const ATTRIBUTES = 0xa0;

/** What a PKCS#10 asks for. */
export interface CertificationRequestFields {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** True where the subject holds anything but one CN and organizations, each in an RDN of its own. */
  readonly otherSubject: boolean;
  readonly hasSan: boolean;
  readonly keyType: "EC" | "RSA" | "other";
  /** The DER of the SubjectPublicKeyInfo, as it stands in the request. */
  readonly spki: Uint8Array;
  /** The CertificationRequestInfo, which the key of the request has signed. */
  readonly signed: Uint8Array;
  /** Not checked here. */
  readonly untrustedSignature: Uint8Array;
}

/**
 * Reads a PKCS#10 CertificationRequest in DER.
 * @throws FormatError
 * @see RFC 2986 section 4
 */
export function readCertificationRequest(bytes: Uint8Array): CertificationRequestFields {
  const [info, , signature] = fieldsOf(readDer(bytes, "CertificationRequest"), "CertificationRequest", 3);
  const [version, subject, spki, attributes] = fieldsOf(info, "CertificationRequestInfo", 4);
  const written = expectTag(version, TAG.INTEGER, "CertificationRequestInfo.version").contents;
  if (written.length !== 1 || written[0] !== 0) {
    throw new FormatError("unknown-value", "CertificationRequestInfo.version", version?.offset ?? 0);
  }
  const [algorithm] = childrenOf(
    expectTag(fieldsOf(spki, "SubjectPublicKeyInfo", 2)[0], TAG.SEQUENCE, "algorithm"),
    "algorithm",
  );
  const keyAlgorithm = oidText(expectTag(algorithm, TAG.OID, "algorithm"), "algorithm");
  return {
    ...subjectFields(expectTag(subject, TAG.SEQUENCE, "subject").raw),
    hasSan: requestedExtensions(expectTag(attributes, ATTRIBUTES, "attributes")).includes(OID.subjectAltName),
    keyType: keyAlgorithm === OID["id-ecPublicKey"] ? "EC" : keyAlgorithm === OID.rsaEncryption ? "RSA" : "other",
    spki: expectTag(spki, TAG.SEQUENCE, "SubjectPublicKeyInfo").raw,
    signed: expectTag(info, TAG.SEQUENCE, "CertificationRequestInfo").raw,
    untrustedSignature: expectTag(signature, TAG.BIT_STRING, "signature").contents.subarray(1),
  };
}

/** Writes the part of a PKCS#10 that is signed: one RDN an entry, organizations first, as Go's kubelet does. */
export function writeCertificationRequestInfo(
  subject: { readonly organizations: readonly string[]; readonly commonName: string },
  spki: Uint8Array,
): Uint8Array {
  const rdn = (type: string, text: string) => der(TAG.SET, sequence(oid(type), printableString(text)));
  const name = [
    ...subject.organizations.map((text) => rdn(ORGANIZATION, text)),
    rdn(OID.commonName, subject.commonName),
  ];
  return sequence(unsignedInteger(Uint8Array.of(0)), sequence(...name), spki, explicit(0));
}

/** Writes a PKCS#10 from its signed part and an ECDSA signature over it (SHA-256, DER). */
export function writeCertificationRequest(info: Uint8Array, ecdsaSignature: Uint8Array): Uint8Array {
  return sequence(info, sequence(oid(OID["ecdsa-with-SHA256"])), bitString(ecdsaSignature));
}

/** The fields of a SEQUENCE of exactly so many, each in the one encoding that DER has for it. */
function fieldsOf(element: Der | undefined, structure: string, count: number): Der[] {
  const parent = expectTag(element, TAG.SEQUENCE, structure);
  const fields = childrenOf(parent, structure);
  for (const field of [parent, ...fields]) requireShortestLength(field, structure);
  if (fields.length > count) throw new FormatError("trailing", structure, fields[count]?.offset ?? 0);
  if (fields.length < count) throw new FormatError("truncated", structure, parent.offset + parent.raw.length);
  return fields;
}

function requireShortestLength(element: Der, structure: string): void {
  if (element.raw.length !== der(element.tag, element.contents).length) {
    throw new FormatError("not-canonical", structure, element.offset, "length");
  }
}

function subjectFields(
  subject: Uint8Array,
): Pick<CertificationRequestFields, "commonName" | "organizations" | "otherSubject"> {
  const rdns = readName(subject);
  const entries = rdns.flat().map(({ type, value }) => ({ type, text: directoryString(value) ?? "" }));
  const texts = (type: string) => entries.filter((entry) => entry.type === type).map(({ text }) => text);
  const [commonName, ...moreNames] = texts(OID.commonName);
  const organizations = texts(ORGANIZATION);
  const strange =
    rdns.some((rdn) => rdn.length !== 1) ||
    entries.some(({ text }) => text === "") ||
    entries.length !== organizations.length + 1;
  return {
    commonName: commonName ?? "",
    organizations,
    otherSubject: strange || commonName === undefined || moreNames.length > 0,
  };
}

function requestedExtensions(attributes: Der): string[] {
  requireShortestLength(attributes, "attributes");
  return childrenOf(attributes, "attributes").flatMap((attribute) => {
    const [type, values] = fieldsOf(attribute, "Attribute", 2);
    if (oidText(expectTag(type, TAG.OID, "Attribute"), "Attribute") !== EXTENSION_REQUEST) return [];
    const lists = childrenOf(expectTag(values, TAG.SET, "Attribute"), "Attribute");
    const extensions = lists.flatMap((list) => childrenOf(expectTag(list, TAG.SEQUENCE, "Extensions"), "Extensions"));
    return extensions.map((extension) => {
      const [id] = childrenOf(expectTag(extension, TAG.SEQUENCE, "Extension"), "Extension");
      return oidText(expectTag(id, TAG.OID, "Extension"), "Extension");
    });
  });
}
