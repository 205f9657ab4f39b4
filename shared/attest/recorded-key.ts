import { decode, encode } from "../formats/codec.ts";
import { FormatError } from "../formats/error.ts";
import { TPM_ALG, TPM_ECC } from "../formats/tpm2/algorithms.ts";
import { TPM2B_PUBLIC, type TpmtPublic } from "../formats/tpm2/public.ts";
import { TPMT_SIGNATURE } from "../formats/tpm2/signature.ts";
import { readCertificate } from "../formats/x509/certificate.ts";

const ATTRIBUTES = {
  fixedTPM: true,
  stClear: false,
  fixedParent: true,
  sensitiveDataOrigin: true,
  userWithAuth: true,
  adminWithPolicy: false,
  firmwareLimited: false,
  svnLimited: false,
  noDA: false,
  encryptedDuplication: false,
  decrypt: false,
  sign: true,
  x509sign: false,
};

/**
 * The public area that a renewal verifies by: the key of a recorded certificate, with the attributes that were proved
 * when the certificate was issued. A certificate does not hold the key's scheme, so the signature's own is taken; one
 * that an area could not declare gives null, as does a certificate or signature that is none.
 * Its Name is not that of the key in the TPM: only signatures are checked by it.
 * @see spec/10-protocol.md section 5
 */
export function recordedKey(kind: "ldevid" | "lak", certificate: Uint8Array, signature: Uint8Array): Uint8Array | null {
  try {
    const { publicKey } = readCertificate(certificate);
    const { sigAlg, hash } = decode(TPMT_SIGNATURE, signature, "TPMT_SIGNATURE");
    if (!publicKey) return null;
    const head = {
      nameAlg: TPM_ALG.SHA256,
      objectAttributes: { ...ATTRIBUTES, restricted: kind === "lak" },
      authPolicy: new Uint8Array(0),
    };
    const none = { algorithm: TPM_ALG.NULL } as const;
    let area: TpmtPublic;
    if (publicKey.type === "rsa") {
      if (sigAlg === TPM_ALG.ECDSA) return null;
      const exponent = publicKey.exponent.reduce((sum, octet) => sum * 256 + octet, 0);
      const keyBits = publicKey.modulus.length * 8;
      const parameters = { symmetric: none, scheme: { scheme: sigAlg, hashAlg: hash }, keyBits, exponent };
      area = { ...head, type: TPM_ALG.RSA, parameters, unique: publicKey.modulus };
    } else {
      if (sigAlg !== TPM_ALG.ECDSA || publicKey.curve === "P-521") return null;
      const curveID = publicKey.curve === "P-256" ? TPM_ECC.NIST_P256 : TPM_ECC.NIST_P384;
      const scheme = { scheme: sigAlg, hashAlg: hash };
      const parameters = { symmetric: none, scheme, curveID, kdf: { scheme: TPM_ALG.NULL } };
      area = { ...head, type: TPM_ALG.ECC, parameters, unique: { x: publicKey.x, y: publicKey.y } };
    }
    return encode(TPM2B_PUBLIC, area);
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}
