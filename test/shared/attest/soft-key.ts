import { constants, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { encode } from "../../../shared/formats/codec.ts";
import { TPM2B_PUBLIC, type TpmtPublic } from "../../../shared/formats/tpm2/public.ts";
import { TPMT_SIGNATURE } from "../../../shared/formats/tpm2/signature.ts";

/** A key in software that has a public area as a TPM's has, and signs as a TPM does. */
export interface SoftKey {
  readonly area: TpmtPublic;
  readonly public: Uint8Array;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly sign: (data: Uint8Array) => Uint8Array;
}

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
  restricted: true,
  decrypt: false,
  sign: true,
  x509sign: false,
};

const HASHES = { sha1: 0x0004, sha256: 0x000b, sha384: 0x000c, sha512: 0x000d } as const;
const head = { nameAlg: 0x000b, objectAttributes: ATTRIBUTES, authPolicy: new Uint8Array(0) };
const none = { algorithm: 0x0010 } as const;

const part = (text: string | undefined): Uint8Array => new Uint8Array(Buffer.from(text ?? "", "base64url"));

/** An RSA key with one of the two schemes. */
export function rsaKey(scheme: "rsassa" | "rsapss", hash: keyof typeof HASHES, keyBits = 2048): SoftKey {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: keyBits });
  const sigAlg = scheme === "rsassa" ? 0x0014 : 0x0016;
  const hashAlg = HASHES[hash];
  const unique = part(publicKey.export({ format: "jwk" }).n);
  const parameters = { symmetric: none, scheme: { scheme: sigAlg, hashAlg }, keyBits, exponent: 0 } as const;
  const area: TpmtPublic = { ...head, type: 0x0001, parameters, unique };
  const padding = scheme === "rsassa" ? constants.RSA_PKCS1_PADDING : constants.RSA_PKCS1_PSS_PADDING;
  // A TPM salts with as many bytes as fit.
  const saltLength = constants.RSA_PSS_SALTLEN_MAX_SIGN;
  const signed = (data: Uint8Array) => new Uint8Array(sign(hash, data, { key: privateKey, padding, saltLength }));
  return {
    area,
    public: encode(TPM2B_PUBLIC, area),
    privateKey,
    publicKey,
    sign: (data) => encode(TPMT_SIGNATURE, { sigAlg, hash: hashAlg, sig: signed(data) }),
  };
}

/** An ECDSA key. */
export function ecKey(curve: "P-256" | "P-384" | "P-521", hash: keyof typeof HASHES): SoftKey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: curve });
  const jwk = publicKey.export({ format: "jwk" });
  const curveID = { "P-256": 0x0003, "P-384": 0x0004, "P-521": 0x0005 }[curve];
  const scheme = { scheme: 0x0018, hashAlg: HASHES[hash] } as const;
  const parameters = { symmetric: none, scheme, curveID, kdf: { scheme: 0x0010 } } as const;
  const area: TpmtPublic = { ...head, type: 0x0023, parameters, unique: { x: part(jwk.x), y: part(jwk.y) } };
  return {
    area,
    public: encode(TPM2B_PUBLIC, area),
    privateKey,
    publicKey,
    sign: (data) => {
      const raw = new Uint8Array(sign(hash, data, { key: privateKey, dsaEncoding: "ieee-p1363" }));
      const [signatureR, signatureS] = [raw.subarray(0, raw.length / 2), raw.subarray(raw.length / 2)];
      return encode(TPMT_SIGNATURE, { sigAlg: 0x0018, hash: HASHES[hash], signatureR, signatureS });
    },
  };
}
