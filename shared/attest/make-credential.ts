import { aesCfbEncrypt } from "../crypto/aes-cfb.ts";
import { privateScalar, publicPoint, scalarRandomBytes, sharedX } from "../crypto/ecdh.ts";
import { DIGEST_BYTES, type HashName, hmac } from "../crypto/hash.ts";
import { kdfa, kdfe } from "../crypto/kdf.ts";
import { oaepEncrypt } from "../crypto/oaep.ts";
import { CURVE_BYTES, leftPad } from "../crypto/public-key.ts";
import { decode, encode, sized, u16be } from "../formats/codec.ts";
import { hashName, TPM_ALG } from "../formats/tpm2/algorithms.ts";
import { TPM2B_ENCRYPTED_SECRET, TPM2B_ID_OBJECT } from "../formats/tpm2/credential.ts";
import { TPM2B_PUBLIC, TPMS_ECC_POINT, type TpmtPublic } from "../formats/tpm2/public.ts";
import { concat } from "./hex.ts";
import { publicKeyOf } from "./keys.ts";

export interface CredentialInput {
  /** TPM2B_PUBLIC of the EK. */
  readonly ekPublic: Uint8Array;
  /** The Name of the object that must be loaded beside the EK: the AK's. */
  readonly name: Uint8Array;
  /** At most the EK's nameAlg digest, 32 bytes for SHA-256. */
  readonly secret: Uint8Array;
  readonly random: (lengthBytes: number) => Uint8Array;
}

export interface Credential {
  /** TPM2B_ID_OBJECT. */
  readonly credentialBlob: Uint8Array;
  /** TPM2B_ENCRYPTED_SECRET. */
  readonly secret: Uint8Array;
}

/**
 * Does what TPM2_MakeCredential does: only the TPM with this EK, and only with the object of this Name loaded, opens it.
 * @throws FormatError when the EK's area is none
 * @throws RangeError when the EK cannot wrap, or the secret is too long
 * @see TPM 2.0 Library Part 1, 24.3 to 24.5
 */
export function makeCredential(input: CredentialInput): Credential {
  const ek = decode(TPM2B_PUBLIC, input.ekPublic, "TPM2B_PUBLIC");
  const hash = hashName(ek.nameAlg);
  const { symmetric } = ek.parameters;
  if (!hash || symmetric.algorithm !== TPM_ALG.AES) throw new RangeError("the EK has no hash or no AES of its own");
  if (input.secret.length > DIGEST_BYTES[hash]) throw new RangeError(`at most ${DIGEST_BYTES[hash]} bytes fit`);
  const { seed, encrypted } = encapsulate(ek, hash, "IDENTITY", input.random);
  const none = new Uint8Array(0);
  const storage = { hash, label: "STORAGE", contextU: input.name, contextV: none, bits: symmetric.keyBits };
  const encIdentity = aesCfbEncrypt(kdfa(seed, storage), encode(sized(u16be, 64), input.secret));
  const integrity = { hash, label: "INTEGRITY", contextU: none, contextV: none, bits: 8 * DIGEST_BYTES[hash] };
  const integrityHMAC = hmac(hash, kdfa(seed, integrity), encIdentity, input.name);
  return {
    credentialBlob: encode(TPM2B_ID_OBJECT, { integrityHMAC, encIdentity }),
    secret: encode(TPM2B_ENCRYPTED_SECRET, encrypted),
  };
}

/**
 * A fresh seed and its labelled encapsulation to a key.
 * @throws RangeError when the key can take none
 * @see TPM 2.0 Library Part 1, B.10.3 (RSA) and C.6.3 (ECC)
 */
export function encapsulate(
  key: TpmtPublic,
  hash: HashName,
  label: string,
  random: (lengthBytes: number) => Uint8Array,
): { seed: Uint8Array; encrypted: Uint8Array } {
  const target = publicKeyOf(key);
  if (!target) throw new RangeError("a key of an unknown curve");
  if (target.type === "rsa") {
    const seed = random(DIGEST_BYTES[hash]);
    return { seed, encrypted: oaepEncrypt(target, hash, label, seed) };
  }
  const size = CURVE_BYTES[target.curve];
  const scalar = privateScalar(target.curve, random(scalarRandomBytes(target.curve)));
  const ephemeral = publicPoint(target.curve, scalar);
  const z = sharedX(target.curve, scalar, target);
  const bits = 8 * DIGEST_BYTES[hash];
  const seed = kdfe(z, { hash, label, contextU: ephemeral.x, contextV: leftPad(target.x, size), bits });
  return { seed, encrypted: concat(encode(TPMS_ECC_POINT, ephemeral)) };
}
