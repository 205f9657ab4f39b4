import { AsnConvert, AsnProp, AsnPropTypes } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Extensions,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
} from "@peculiar/asn1-x509";
import { FormatError } from "../error.ts";

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const SUBJECT_ALT_NAME = "2.5.29.17";
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const EC_PUBLIC_KEY = "1.2.840.10045.2.1";
const RSA_ENCRYPTION = "1.2.840.113549.1.1.1";
const ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";

/** What a PKCS#10 asks for. Its signature is not checked: the API server did that when it took the request. */
export interface CertificationRequestFields {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** True where the subject holds anything but one CN and organizations, each in an RDN of its own. */
  readonly otherSubject: boolean;
  readonly hasSan: boolean;
  readonly keyType: "EC" | "RSA" | "other";
  /** The DER of the SubjectPublicKeyInfo, as it stands in the request. */
  readonly spki: Uint8Array;
}

class Attribute {
  type = "";
  values: ArrayBuffer[] = [];
}
AsnProp({ type: AsnPropTypes.ObjectIdentifier })(Attribute.prototype, "type");
AsnProp({ type: AsnPropTypes.Any, repeated: "set" })(Attribute.prototype, "values");

class CertificationRequestInfo {
  version = 0;
  subject = new Name();
  subjectPublicKeyInfo = new ArrayBuffer(0);
  attributes: Attribute[] = [];
}
AsnProp({ type: AsnPropTypes.Integer })(CertificationRequestInfo.prototype, "version");
AsnProp({ type: Name })(CertificationRequestInfo.prototype, "subject");
AsnProp({ type: AsnPropTypes.Any })(CertificationRequestInfo.prototype, "subjectPublicKeyInfo");
AsnProp({ type: Attribute, context: 0, implicit: true, repeated: "set" })(
  CertificationRequestInfo.prototype,
  "attributes",
);

class CertificationRequest {
  certificationRequestInfo = new CertificationRequestInfo();
  signatureAlgorithm = new AlgorithmIdentifier();
  signature = new ArrayBuffer(0);
}
AsnProp({ type: CertificationRequestInfo })(CertificationRequest.prototype, "certificationRequestInfo");
AsnProp({ type: AlgorithmIdentifier })(CertificationRequest.prototype, "signatureAlgorithm");
AsnProp({ type: AsnPropTypes.BitString })(CertificationRequest.prototype, "signature");

/**
 * Reads a PKCS#10 CertificationRequest in DER.
 * @throws FormatError `not-canonical` for what is no PKCS#10, not DER, or has bytes behind it
 * @see RFC 2986, section 4
 */
export function readCertificationRequest(der: Uint8Array): CertificationRequestFields {
  const { certificationRequestInfo: info } = parseExactly(der, CertificationRequest, "CertificationRequest");
  if (info.version !== 0) throw new FormatError("unknown-value", "CertificationRequestInfo.version", 0);
  const spki = new Uint8Array(info.subjectPublicKeyInfo);
  const { algorithm } = parseExactly(spki, SubjectPublicKeyInfo, "SubjectPublicKeyInfo").algorithm;
  return {
    ...subjectFields(info.subject),
    hasSan: requestedExtensions(info).includes(SUBJECT_ALT_NAME),
    keyType: algorithm === EC_PUBLIC_KEY ? "EC" : algorithm === RSA_ENCRYPTION ? "RSA" : "other",
    spki,
  };
}

/** Writes the part of a PKCS#10 that is signed: one RDN an entry, organizations first, as Go's kubelet does. */
export function writeCertificationRequestInfo(
  subject: { readonly organizations: readonly string[]; readonly commonName: string },
  spki: Uint8Array,
): Uint8Array {
  const info = new CertificationRequestInfo();
  const rdn = (type: string, printableString: string) =>
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({ type, value: new AttributeValue({ printableString }) }),
    ]);
  info.subject = new Name([
    ...subject.organizations.map((organization) => rdn(ORGANIZATION, organization)),
    rdn(COMMON_NAME, subject.commonName),
  ]);
  info.subjectPublicKeyInfo = new Uint8Array(spki).buffer;
  return new Uint8Array(AsnConvert.serialize(info));
}

/** Writes a PKCS#10 from its signed part and an ECDSA signature over it (SHA-256, DER). */
export function writeCertificationRequest(info: Uint8Array, ecdsaSignature: Uint8Array): Uint8Array {
  const request = new CertificationRequest();
  request.certificationRequestInfo = parseExactly(info, CertificationRequestInfo, "CertificationRequestInfo");
  request.signatureAlgorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  request.signature = new Uint8Array(ecdsaSignature).buffer;
  return new Uint8Array(AsnConvert.serialize(request));
}

function subjectFields(
  subject: Name,
): Pick<CertificationRequestFields, "commonName" | "organizations" | "otherSubject"> {
  const entries = [...subject].flatMap((rdn) => [...rdn]);
  const texts = (type: string) => entries.filter((entry) => entry.type === type).map((entry) => textOf(entry.value));
  const [commonName, ...moreNames] = texts(COMMON_NAME);
  const organizations = texts(ORGANIZATION);
  const strange =
    subject.some((rdn) => rdn.length !== 1) ||
    entries.some((entry) => textOf(entry.value) === "") ||
    entries.length !== organizations.length + 1;
  return {
    commonName: commonName ?? "",
    organizations,
    otherSubject: strange || commonName === undefined || moreNames.length > 0,
  };
}

function textOf(value: AttributeValue): string {
  return value.printableString ?? value.utf8String ?? "";
}

function requestedExtensions(info: CertificationRequestInfo): string[] {
  const values = info.attributes.filter(({ type }) => type === EXTENSION_REQUEST).flatMap(({ values }) => values);
  return values.flatMap((value) =>
    [...parseExactly(new Uint8Array(value), Extensions, "Extensions")].map((extension) => extension.extnID),
  );
}

/** The parser accepts bytes behind the value and BER inside it: only what writes back the same is taken. */
function parseExactly<T>(der: Uint8Array, type: new () => T, structure: string): T {
  let parsed: T;
  let written: Uint8Array;
  try {
    parsed = AsnConvert.parse(new Uint8Array(der).buffer, type);
    written = new Uint8Array(AsnConvert.serialize(parsed));
  } catch {
    throw new FormatError("not-canonical", structure, 0);
  }
  if (written.length !== der.length || written.some((byte, index) => byte !== der[index])) {
    throw new FormatError(der.length > written.length ? "trailing" : "not-canonical", structure, 0);
  }
  return parsed;
}
