import { constants, createVerify, verify } from "node:crypto";
import type { HashName } from "./hash.ts";
import { CURVE_BYTES, type EcPublicKey, importPublicKey, leftPad, type RsaPublicKey } from "./public-key.ts";

/** Whether an RSASSA-PKCS1-v1_5 signature is the key's over the data. */
export function verifyRsassa(key: RsaPublicKey, hash: HashName, data: Uint8Array, signature: Uint8Array): boolean {
  const imported = importPublicKey(key);
  return imported !== null && signature.length === key.modulus.length && verify(hash, data, imported, signature);
}

/** Whether an RSASSA-PSS signature is the key's over the data, whatever the length of its salt. */
export function verifyRsapss(key: RsaPublicKey, hash: HashName, data: Uint8Array, signature: Uint8Array): boolean {
  const imported = importPublicKey(key);
  if (!imported || signature.length !== key.modulus.length) return false;
  // workerd takes padding options only with a key in PEM, and its one-shot verify leaves them unread.
  const pem = imported.export({ type: "spki", format: "pem" }).toString();
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
  return verify(hash, data, imported, ecdsaDer(leftPad(signature.r, size), leftPad(signature.s, size)));
}

/** Whether an ECDSA signature in DER, as certificates carry it, is the key's over the data. */
export function verifyEcdsaDer(key: EcPublicKey, hash: HashName, data: Uint8Array, signature: Uint8Array): boolean {
  const imported = importPublicKey(key);
  return imported !== null && verify(hash, data, imported, signature);
}

// DER with a bare key works on Node and on workerd alike; ieee-p1363 does not.
function ecdsaDer(r: Uint8Array, s: Uint8Array): Uint8Array {
  const body = [...derInteger(r), ...derInteger(s)];
  return Uint8Array.from([0x30, ...(body.length < 128 ? [body.length] : [0x81, body.length]), ...body]);
}

function derInteger(value: Uint8Array): number[] {
  const digits = [...value];
  while (digits.length > 1 && digits[0] === 0) digits.shift();
  if (((digits[0] ?? 0) & 0x80) !== 0) digits.unshift(0);
  return [0x02, digits.length, ...digits];
}
