import { digest } from "../crypto/hash.ts";
import { readDer } from "../formats/der.ts";
import type { TpmtPublic } from "../formats/tpm2/public.ts";
import { extensionOf, readCertificate } from "../formats/x509/certificate.ts";
import { type IssuedFields, type IssuerAlgorithm, joinCertificate } from "../formats/x509/issued.ts";
import { lakTbs } from "../formats/x509/lak.ts";
import { ldevidTbs } from "../formats/x509/ldevid.ts";
import { OID } from "../formats/x509/oids.ts";
import { keyBits } from "../formats/x509/spki.ts";
import { concat, fromHex, toHex } from "./hex.ts";
import { publicKeyOf } from "./keys.ts";

const BACKDATED_MS = 5 * 60_000;

export interface IssueInput {
  readonly deviceName: string;
  readonly chassisSerial: string;
  readonly trustDomain: string;
  /** `sha256:<hex>`, every approved EK. */
  readonly approvedEks: readonly string[];
  readonly publicArea: TpmtPublic;
  readonly issuer: { readonly certificate: Uint8Array; readonly algorithm: IssuerAlgorithm };
  readonly nowMs: number;
  readonly lifetimeMs: number;
  /** 20 random bytes. */
  readonly serialNumber: Uint8Array;
}

/** The digest of all approved EKs: it names the TPM for ever, in CN and HardwareModuleName. */
export function tpmDigest(approvedEks: readonly string[]): Uint8Array {
  const digests = approvedEks.map((text) => fromHex(text.replace(/^sha256:/, "")) ?? new Uint8Array(0));
  return digest("sha256", concat(...digests.sort((a, b) => (toHex(a) < toHex(b) ? -1 : 1))));
}

/** The CN of a node's certificates. @see spec/20-verification.md "Certificates issued" */
export function nodeCommonName(deviceName: string, approvedEks: readonly string[]): string {
  return `${deviceName}.${toHex(tpmDigest(approvedEks)).slice(0, 16)}`;
}

/**
 * The bytes for the signer to sign, of an LDevID or a LAK certificate.
 * @throws FormatError when the issuer's certificate is none
 * @throws RangeError when the key is of an unknown curve, or a value is none
 */
export function certificateToSign(kind: "ldevid" | "lak", input: IssueInput): Uint8Array {
  const issuer = readCertificate(input.issuer.certificate);
  const publicKey = publicKeyOf(input.publicArea);
  if (!publicKey || input.serialNumber.length !== 20) throw new RangeError("no key, or no serial number of 20 bytes");
  const issuerKeyId = extensionOf(issuer, OID.subjectKeyIdentifier);
  const issuerBits = issuer.publicKey ? keyBits(issuer.publicKey) : issuer.spki;
  const fields: IssuedFields = {
    serialNumber: input.serialNumber,
    algorithm: input.issuer.algorithm,
    issuer: issuer.subject,
    notBeforeMs: input.nowMs - BACKDATED_MS,
    notAfterMs: Math.min(input.nowMs + input.lifetimeMs, issuer.notAfterMs),
    commonName: nodeCommonName(input.deviceName, input.approvedEks),
    subjectSerialNumber: input.chassisSerial,
    publicKey,
    spiffeId: `spiffe://${input.trustDomain}/node/${input.deviceName}`,
    hardwareSerial: tpmDigest(input.approvedEks),
    subjectKeyIdentifier: keyIdentifier(keyBits(publicKey)),
    authorityKeyIdentifier: issuerKeyId ? readDer(issuerKeyId.value, "SKI").contents : keyIdentifier(issuerBits),
  };
  return kind === "ldevid" ? ldevidTbs(fields) : lakTbs(fields);
}

/** The certificate of signed bytes. */
export function signedCertificate(tbs: Uint8Array, algorithm: IssuerAlgorithm, signature: Uint8Array): Uint8Array {
  return joinCertificate(tbs, algorithm, signature);
}

/** The SHA-256 of a certificate, lower-case hex. */
export function certificateFingerprint(der: Uint8Array): string {
  return toHex(digest("sha256", der));
}

// RFC 7093, method 1: SHA-1 need not be.
function keyIdentifier(bits: Uint8Array): Uint8Array {
  return digest("sha256", bits).subarray(0, 20);
}
