import { createHash, type KeyObject } from "node:crypto";
import { encode } from "../../../shared/formats/codec.ts";
import { TPM_ALG, TPM_ECC } from "../../../shared/formats/tpm2/algorithms.ts";
import { TPMT_PUBLIC, type TpmaObject, type TpmtPublic } from "../../../shared/formats/tpm2/public.ts";
import { coordinates, publicHalf } from "./soft-crypto.ts";

/** PolicySecret(TPM_RH_ENDORSEMENT). @see TCG EK Credential Profile for TPM Family 2.0, annex B */
const POLICY_A = "837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa";
const RSA_BITS = 2048;

const none: TpmaObject = {
  fixedTPM: false,
  stClear: false,
  fixedParent: false,
  sensitiveDataOrigin: false,
  userWithAuth: false,
  adminWithPolicy: false,
  firmwareLimited: false,
  svnLimited: false,
  noDA: false,
  encryptedDuplication: false,
  restricted: false,
  decrypt: false,
  sign: false,
  x509sign: false,
};
const born: TpmaObject = { ...none, fixedTPM: true, fixedParent: true, sensitiveDataOrigin: true };

/** The public area of an EK: template L-1 of an RSA key, L-2 of a P-256 key. */
export function ekArea(key: KeyObject): TpmtPublic {
  const head = {
    nameAlg: TPM_ALG.SHA256,
    objectAttributes: { ...born, adminWithPolicy: true, restricted: true, decrypt: true },
    authPolicy: new Uint8Array(Buffer.from(POLICY_A, "hex")),
  };
  const symmetric = { algorithm: TPM_ALG.AES, keyBits: 128, mode: TPM_ALG.CFB } as const;
  const scheme = { scheme: TPM_ALG.NULL } as const;
  if (key.asymmetricKeyType === "rsa") {
    const { n = "" } = publicHalf(key).export({ format: "jwk" });
    const parameters = { symmetric, scheme, keyBits: RSA_BITS, exponent: 0 };
    return { type: TPM_ALG.RSA, ...head, parameters, unique: new Uint8Array(Buffer.from(n, "base64url")) };
  }
  const parameters = { symmetric, scheme, curveID: TPM_ECC.NIST_P256, kdf: { scheme: TPM_ALG.NULL } };
  return { type: TPM_ALG.ECC, ...head, parameters, unique: coordinates(key) };
}

/** The public area of an AK (restricted) or LDevID key on P-256. */
export function signingArea(key: KeyObject, restricted: boolean): TpmtPublic {
  return {
    type: TPM_ALG.ECC,
    nameAlg: TPM_ALG.SHA256,
    objectAttributes: { ...born, userWithAuth: true, sign: true, restricted },
    authPolicy: new Uint8Array(0),
    parameters: {
      symmetric: { algorithm: TPM_ALG.NULL },
      scheme: { scheme: TPM_ALG.ECDSA, hashAlg: TPM_ALG.SHA256 },
      curveID: TPM_ECC.NIST_P256,
      kdf: { scheme: TPM_ALG.NULL },
    },
    unique: coordinates(key),
  };
}

/** The Name of a public area with nameAlg SHA-256. @see TPM 2.0 Library Part 1, 16 */
export function nameOf(area: TpmtPublic): Uint8Array {
  return Buffer.concat([Buffer.of(0x00, 0x0b), createHash("sha256").update(encode(TPMT_PUBLIC, area)).digest()]);
}
