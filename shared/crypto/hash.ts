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

/** The digest as lower-case hex: as text it costs less than half of what it does as bytes. */
export function digestHex(hash: HashName, data: Uint8Array): string {
  return oneShot(hash, data, "hex");
}

/** A PCR: its value becomes the digest of itself and of what it is extended by. @see TPM 2.0 Library Part 1, 17.2 */
export class PcrRegister {
  private readonly hash: HashName;
  private readonly size: number;
  // The value, and behind it what extends it: hashed where they stand.
  private readonly state: Buffer;

  constructor(hash: HashName, start?: Uint8Array) {
    this.hash = hash;
    this.size = DIGEST_BYTES[hash];
    this.state = Buffer.alloc(2 * this.size);
    if (start) this.state.set(start);
  }

  extend(by: Uint8Array): void {
    this.state.set(by, this.size);
    this.state.write(oneShot(this.hash, this.state, "binary"), 0, "binary");
  }

  value(): Uint8Array {
    return new Uint8Array(this.state.subarray(0, this.size));
  }
}

/** HMAC of the parts, one after the other. */
export function hmac(hash: HashName, key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const running = createHmac(hash, key);
  for (const part of parts) running.update(part);
  return new Uint8Array(running.digest());
}
