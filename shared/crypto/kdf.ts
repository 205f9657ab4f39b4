import { hkdfSync } from "node:crypto";
import { DIGEST_BYTES, digest, type HashName, hmac } from "./hash.ts";

export interface KdfInput {
  readonly hash: HashName;
  readonly label: string;
  readonly contextU: Uint8Array;
  readonly contextV: Uint8Array;
  readonly bits: number;
}

/**
 * KDFa: SP 800-108 in counter mode with HMAC.
 * @see TPM 2.0 Library Part 1, 11.4.10.2
 */
export function kdfa(key: Uint8Array, input: KdfInput): Uint8Array {
  const label = labelBytes(input.label);
  const bits = uint32(input.bits);
  return counted(input, (counter) => hmac(input.hash, key, counter, label, input.contextU, input.contextV, bits));
}

/**
 * KDFe: the SP 800-56A one-step derivation from an ECDH secret.
 * @see TPM 2.0 Library Part 1, 11.4.10.3
 */
export function kdfe(z: Uint8Array, input: KdfInput): Uint8Array {
  const label = labelBytes(input.label);
  return counted(input, (counter) => digest(input.hash, counter, z, label, input.contextU, input.contextV));
}

/** HKDF-SHA256. @see RFC 5869 */
export function hkdfSha256(secret: Uint8Array, salt: Uint8Array, info: string, lengthBytes: number): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, salt, new TextEncoder().encode(info), lengthBytes));
}

function counted(input: KdfInput, round: (counter: Uint8Array) => Uint8Array): Uint8Array {
  const out = new Uint8Array(Math.ceil(input.bits / 8));
  const size = DIGEST_BYTES[input.hash];
  for (let at = 0, counter = 1; at < out.length; at += size, counter++) {
    out.set(round(uint32(counter)).subarray(0, out.length - at), at);
  }
  // Of a length that is no whole number of bytes, the surplus bits are the highest of the first byte.
  const surplus = out.length * 8 - input.bits;
  if (surplus > 0) out[0] = (out[0] ?? 0) & (0xff >> surplus);
  return out;
}

function labelBytes(label: string): Uint8Array {
  return new TextEncoder().encode(`${label}\0`);
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of((value >>> 24) & 0xff, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
}
