import { constants, createVerify, verify } from "node:crypto";
import type { HashName } from "./hash.ts";
import { CURVE_BYTES, derInteger, derOf, type EcPublicKey, importPublicKey, type RsaPublicKey } from "./public-key.ts";

/** Whether an RSASSA-PKCS1-v1_5 signature is the key's over the data. */
export function verifyRsassa(key: RsaPublicKey, hash: HashName, data: Uint8Array, signature: Uint8Array): boolean {
  const imported = importPublicKey(key);
  return imported !== null && signature.length === key.modulus.length && verify(hash, data, imported.object, signature);
}

/** Whether an RSASSA-PSS signature is the key's over the data, whatever the length of its salt. */
export function verifyRsapss(key: RsaPublicKey, hash: HashName, data: Uint8Array, signature: Uint8Array): boolean {
  const imported = importPublicKey(key);
  if (!imported || signature.length !== key.modulus.length) return false;
  // workerd takes padding options only with a key in PEM, and its one-shot verify leaves them unread.
  const { pem } = imported;
  const saltLength = constants.RSA_PSS_SALTLEN_AUTO;
  return createVerify(hash)
    .update(data)
    .verify({ key: pem, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }, signature);
}

/** Whether an ECDSA signature, given as its two numbers, is the key's over the data. */
export function verifyEcdsa(
  key: EcPublicKey,
  hash: HashName,
  data: Uint8Array,
  signature: { readonly r: Uint8Array; readonly s: Uint8Array },
): boolean {
  const imported = importPublicKey(key);
  const size = CURVE_BYTES[key.curve];
  if (!imported || signature.r.length > size || signature.s.length > size) return false;
  return verify(hash, data, imported.object, ecdsaDer(signature.r, signature.s));
}

/** Whether an ECDSA signature in DER, as certificates carry it, is the key's over the data. */
export function verifyEcdsaDer(key: EcPublicKey, hash: HashName, data: Uint8Array, signature: Uint8Array): boolean {
  const imported = importPublicKey(key);
  return imported !== null && verify(hash, data, imported.object, signature);
}

// DER with a bare key works on Node and on workerd alike; ieee-p1363 does not.
function ecdsaDer(r: Uint8Array, s: Uint8Array): Uint8Array {
  return derOf(0x30, derInteger(r), derInteger(s));
}
