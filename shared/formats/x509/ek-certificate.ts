import { childrenOf, expectTag, readDer, readDerPrefix, TAG } from "../der.ts";
import { FormatError } from "../error.ts";
import {
  type Certificate,
  extendedKeyUsages,
  extensionOf,
  type KeyUsage,
  keyUsages,
  readCertificate,
} from "./certificate.ts";
import { directoryString, readName } from "./name.ts";
import { OID } from "./oids.ts";

/** An EK certificate as a TPM's NV index holds it. */
export interface EkCertificate {
  readonly certificate: Certificate;
  readonly headerBytes: number;
  readonly paddingBytes: number;
  /** tcg-at-tpm* of the subjectAltName, where it has them. */
  readonly tpm: {
    readonly manufacturer: string | null;
    readonly model: string | null;
    readonly version: string | null;
  };
  /** null: no such extension, which real EK certificates lack too. */
  readonly extendedKeyUsages: readonly string[] | null;
  readonly keyUsages: readonly KeyUsage[] | null;
}

const NV_HEADER_BYTES = 7;

/**
 * The certificate alone out of an NV index: the stored-certificate header before it goes, and what pads the index behind
 * it, by the certificate's own length. Chips pad with one octet over and over (ff, 00 and 11 are shipped); else it is no
 * padding.
 * @throws FormatError
 * @see TCG PC Client Specific Implementation Specification for Conventional BIOS, 1.21, 7.3.2 (TCG_PCCLIENT_STORED_CERT)
 */
export function trimCertificate(bytes: Uint8Array): { der: Uint8Array; headerBytes: number; paddingBytes: number } {
  const name = "EK certificate";
  const headed = bytes[0] === 0x10 && bytes[1] === 0x01 && bytes[2] === 0x00 && bytes[5] === 0x10 && bytes[6] === 0x02;
  const headerBytes = headed ? NV_HEADER_BYTES : 0;
  const der = expectTag(readDerPrefix(bytes.subarray(headerBytes), name, headerBytes), TAG.SEQUENCE, name).raw;
  const padding = bytes.subarray(headerBytes + der.length);
  if (padding.some((octet) => octet !== padding[0])) {
    throw new FormatError("trailing", name, headerBytes + der.length, `${padding.length} bytes that are no padding`);
  }
  return { der, headerBytes, paddingBytes: padding.length };
}

/**
 * Reads an EK certificate as vendors ship it; its bytes are kept as received.
 * @throws FormatError
 * @see TCG EK Credential Profile for TPM Family 2.0, 3.2
 */
export function readEkCertificate(bytes: Uint8Array): EkCertificate {
  const { der, headerBytes, paddingBytes } = trimCertificate(bytes);
  const certificate = readCertificate(der);
  const extended = extensionOf(certificate, OID.extKeyUsage);
  const usage = extensionOf(certificate, OID.keyUsage);
  return {
    certificate,
    headerBytes,
    paddingBytes,
    tpm: tpmAttributes(certificate),
    extendedKeyUsages: extended && extendedKeyUsages(extended),
    keyUsages: usage && keyUsages(usage),
  };
}

function tpmAttributes(certificate: Certificate): EkCertificate["tpm"] {
  const found: Record<string, string | null> = {};
  const extension = extensionOf(certificate, OID.subjectAltName);
  if (extension) {
    const name = "subjectAltName";
    for (const general of childrenOf(expectTag(readDer(extension.value, name), TAG.SEQUENCE, name), name)) {
      if (general.tag !== 0xa4) continue;
      // All attributes in one RDN, or one in each: both are shipped.
      for (const { type, value } of readName(general.contents).flat()) found[type] ??= directoryString(value);
    }
  }
  return {
    manufacturer: found[OID["tcg-at-tpmManufacturer"]] ?? null,
    model: found[OID["tcg-at-tpmModel"]] ?? null,
    version: found[OID["tcg-at-tpmVersion"]] ?? null,
  };
}
