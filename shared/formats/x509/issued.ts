import { AsnConvert } from "@peculiar/asn1-schema";
import {
  AuthorityKeyIdentifier,
  BasicConstraints,
  CertificatePolicies,
  ExtendedKeyUsage,
  GeneralName,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  OtherName,
  PolicyInformation,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
} from "@peculiar/asn1-x509";
import { der, TAG } from "../der.ts";
import {
  bitString,
  explicit,
  nullValue,
  octetString,
  oid,
  printableString,
  sequence,
  unsignedInteger,
  utf8String,
} from "../der-write.ts";
import { OID } from "./oids.ts";
import { encodeSpki, type SpkiKey } from "./spki.ts";
import { writeTime } from "./time.ts";

export type IssuerAlgorithm = "ecdsa-sha256" | "ecdsa-sha384" | "rsa-sha256";

/** All that one certificate of a node says; the LDevID's and the LAK's differ in purposes and policies alone. */
export interface IssuedFields {
  /** 20 random bytes; the top bit is cleared and the next one set, so that it is positive and never short. */
  readonly serialNumber: Uint8Array;
  readonly algorithm: IssuerAlgorithm;
  /** The issuer's subject Name, DER. */
  readonly issuer: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly commonName: string;
  /** The chassis serial. */
  readonly subjectSerialNumber: string;
  readonly publicKey: SpkiKey;
  readonly spiffeId: string;
  /** hwSerialNum of the HardwareModuleName: what names this TPM. */
  readonly hardwareSerial: Uint8Array;
  readonly subjectKeyIdentifier: Uint8Array;
  readonly authorityKeyIdentifier: Uint8Array;
}

const algorithms: Readonly<Record<IssuerAlgorithm, Uint8Array>> = {
  "ecdsa-sha256": sequence(oid(OID["ecdsa-with-SHA256"])),
  "ecdsa-sha384": sequence(oid(OID["ecdsa-with-SHA384"])),
  "rsa-sha256": sequence(oid(OID.sha256WithRSAEncryption), nullValue()),
};

/**
 * TBSCertificate with these purposes and policies.
 * @see RFC 5280 section 4.1.2; spec/20-verification.md "Certificates issued"
 */
export function tbsCertificate(fields: IssuedFields, purpose: string, policies: readonly string[]): Uint8Array {
  const serial = fields.serialNumber.slice();
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const subject = sequence(
    rdn(OID.commonName, utf8String(fields.commonName)),
    rdn(OID.serialNumber, printableString(fields.subjectSerialNumber)),
  );
  return sequence(
    explicit(0, unsignedInteger(Uint8Array.of(2))),
    unsignedInteger(serial),
    algorithms[fields.algorithm],
    fields.issuer,
    sequence(writeTime(fields.notBeforeMs), writeTime(fields.notAfterMs)),
    subject,
    encodeSpki(fields.publicKey),
    explicit(3, sequence(...extensions(fields, purpose, policies))),
  );
}

/** The certificate of a signed TBSCertificate. */
export function joinCertificate(tbs: Uint8Array, algorithm: IssuerAlgorithm, signature: Uint8Array): Uint8Array {
  return sequence(tbs, algorithms[algorithm], bitString(signature));
}

// The frame around them is written by hand: issuer Name and public key go in as the bytes that they are elsewhere.
function extensions(fields: IssuedFields, purpose: string, policies: readonly string[]): Uint8Array[] {
  const policy = (policyIdentifier: string) => new PolicyInformation({ policyIdentifier });
  return [
    extension(OID.basicConstraints, true, new BasicConstraints()),
    extension(OID.keyUsage, true, new KeyUsage(KeyUsageFlags.digitalSignature)),
    extension(OID.extKeyUsage, false, new ExtendedKeyUsage([purpose])),
    extension(OID.certificatePolicies, false, new CertificatePolicies(policies.map(policy))),
    extension(OID.subjectAltName, false, subjectAltName(fields)),
    extension(OID.subjectKeyIdentifier, false, new SubjectKeyIdentifier(fields.subjectKeyIdentifier)),
    extension(
      OID.authorityKeyIdentifier,
      false,
      new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(fields.authorityKeyIdentifier) }),
    ),
  ];
}

function subjectAltName(fields: IssuedFields): SubjectAlternativeName {
  const hardware = sequence(oid(OID["tcg-hwType-TPM2.0"]), octetString(fields.hardwareSerial));
  const otherName = new OtherName({ typeId: OID["id-on-hardwareModuleName"], value: new Uint8Array(hardware).buffer });
  return new SubjectAlternativeName([
    new GeneralName({ uniformResourceIdentifier: fields.spiffeId }),
    new GeneralName({ otherName }),
  ]);
}

function extension(id: string, critical: boolean, value: unknown): Uint8Array {
  const flag = critical ? [der(TAG.BOOLEAN, Uint8Array.of(0xff))] : [];
  return sequence(oid(id), ...flag, octetString(new Uint8Array(AsnConvert.serialize(value))));
}

function rdn(type: string, value: Uint8Array): Uint8Array {
  return der(TAG.SET, sequence(oid(type), value));
}
