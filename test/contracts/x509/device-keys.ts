import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { TPM_ALG, TPM_ECC } from "../../../shared/formats/tpm2/algorithms.ts";
import type { TpmtPublic } from "../../../shared/formats/tpm2/public.ts";

export const DEVICE_KEYS = ["rsa2048", "p256", "p384"] as const;
export type DeviceKey = (typeof DEVICE_KEYS)[number];

/** A key of a machine: its public area as a TPM gives it, and its SubjectPublicKeyInfo as OpenSSL writes it. */
export interface MadeKey {
  readonly area: TpmtPublic;
  readonly spki: Buffer;
}

const octets = (text: string | undefined) => new Uint8Array(Buffer.from(text ?? "", "base64url"));

/** A new key: a LAK where it is restricted, an LDevID's where not. */
export function makeDeviceKey(kind: DeviceKey, restricted: boolean): MadeKey {
  const { publicKey } =
    kind === "rsa2048"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: kind === "p256" ? "P-256" : "P-384" });
  return { area: areaOf(publicKey, kind, restricted), spki: publicKey.export({ type: "spki", format: "der" }) };
}

function areaOf(publicKey: KeyObject, kind: DeviceKey, restricted: boolean): TpmtPublic {
  const jwk = publicKey.export({ format: "jwk" });
  const head = {
    nameAlg: TPM_ALG.SHA256,
    objectAttributes: {
      ...{ fixedTPM: true, stClear: false, fixedParent: true, sensitiveDataOrigin: true, userWithAuth: true },
      ...{ adminWithPolicy: false, firmwareLimited: false, svnLimited: false, noDA: false },
      ...{ encryptedDuplication: false, restricted, decrypt: false, sign: true, x509sign: false },
    },
    authPolicy: new Uint8Array(0),
  };
  const symmetric = { algorithm: TPM_ALG.NULL } as const;
  if (kind === "rsa2048") {
    const scheme = { scheme: TPM_ALG.RSASSA, hashAlg: TPM_ALG.SHA256 };
    const parameters = { symmetric, scheme, keyBits: 2048, exponent: 0 };
    return { ...head, type: TPM_ALG.RSA, parameters, unique: octets(jwk.n) };
  }
  const scheme = { scheme: TPM_ALG.ECDSA, hashAlg: kind === "p256" ? TPM_ALG.SHA256 : TPM_ALG.SHA384 };
  const curveID = kind === "p256" ? TPM_ECC.NIST_P256 : TPM_ECC.NIST_P384;
  const parameters = { symmetric, scheme, curveID, kdf: { scheme: TPM_ALG.NULL } };
  return { ...head, type: TPM_ALG.ECC, parameters, unique: { x: octets(jwk.x), y: octets(jwk.y) } };
}
