import { verifyEcdsa, verifyRsapss, verifyRsassa } from "../crypto/verify.ts";
import { decode } from "../formats/codec.ts";
import { FormatError } from "../formats/error.ts";
import { hashName, TPM_ALG } from "../formats/tpm2/algorithms.ts";
import type { TpmtPublic } from "../formats/tpm2/public.ts";
import { TPMT_SIGNATURE } from "../formats/tpm2/signature.ts";
import { publicKeyOf } from "./keys.ts";

/**
 * Why a TPMT_SIGNATURE is not the key's over the data, or null when it is: scheme and hash must be those that the key
 * declares, and SHA-1 is no hash to sign by.
 */
export function signatureProblem(key: TpmtPublic, data: Uint8Array, signature: Uint8Array): string | null {
  let read: ReturnType<typeof decodeSignature>;
  try {
    read = decodeSignature(signature);
  } catch (error) {
    if (error instanceof FormatError) return error.message;
    throw error;
  }
  const { scheme } = key.parameters;
  if (!("hashAlg" in scheme) || scheme.scheme !== read.sigAlg || scheme.hashAlg !== read.hash) {
    return `scheme 0x${read.sigAlg.toString(16)} with hash 0x${read.hash.toString(16)}, which the key does not declare`;
  }
  const hash = hashName(read.hash);
  if (!hash || hash === "sha1") return `hash 0x${read.hash.toString(16)}`;
  const publicKey = publicKeyOf(key);
  if (!publicKey) return "a key of an unknown curve";
  if (read.sigAlg === TPM_ALG.ECDSA) {
    const signed = { r: read.signatureR, s: read.signatureS };
    return publicKey.type === "ec" && verifyEcdsa(publicKey, hash, data, signed) ? null : "not this key's signature";
  }
  const verifyRsa = read.sigAlg === TPM_ALG.RSAPSS ? verifyRsapss : verifyRsassa;
  return publicKey.type === "rsa" && verifyRsa(publicKey, hash, data, read.sig) ? null : "not this key's signature";
}

function decodeSignature(signature: Uint8Array) {
  return decode(TPMT_SIGNATURE, signature, "TPMT_SIGNATURE");
}
