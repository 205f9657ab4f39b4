import { createHash, createHmac, hash as oneShot } from "node:crypto";

/** The hash functions that evidence may name; SHA-1 only for reading old event logs and certificates. */
export type HashName = "sha1" | "sha256" | "sha384" | "sha512";

export const DIGEST_BYTES: Readonly<Record<HashName, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

/** The digest of the parts, one after the other. */
export function digest(hash: HashName, ...parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  // The one-shot call is twice as fast, and an event log is thousands of them.
  if (parts.length === 1 && only) return new Uint8Array(oneShot(hash, only, "buffer"));
  const running = createHash(hash);
  for (const part of parts) running.update(part);
  return new Uint8Array(running.digest());
}

/** HMAC of the parts, one after the other. */
export function hmac(hash: HashName, key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const running = createHmac(hash, key);
  for (const part of parts) running.update(part);
  return new Uint8Array(running.digest());
}
