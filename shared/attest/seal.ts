import { aesGcmOpen, aesGcmSeal } from "../crypto/aead.ts";
import { digest } from "../crypto/hash.ts";
import { hkdfSha256 } from "../crypto/kdf.ts";
import { concat, toHex, utf8 } from "./hex.ts";

const SALT_BYTES = 32;
const NONCE_BYTES = 12;

/** What a sealed payload is for: the seal opens for nothing else. */
export interface SealContext {
  readonly deviceId: number | string;
  readonly runId: string;
  readonly uuid: string;
  readonly contentType: string;
}

/** The random bytes that one seal takes. */
export const SEAL_RANDOM_BYTES = SALT_BYTES + NONCE_BYTES;

/** What the store and the record keep of a code. @see spec/40-config-access.md */
export function codeHash(code: string): string {
  return toHex(digest("sha256", utf8("fleetd code v1"), utf8(code)));
}

/**
 * A payload that only its install code opens: salt ‖ nonce ‖ ciphertext with tag.
 * @throws RangeError when there is too little randomness
 * @see spec/40-config-access.md
 */
export function seal(code: string, payload: Uint8Array, context: SealContext, random: Uint8Array): Uint8Array {
  if (random.length < SEAL_RANDOM_BYTES) throw new RangeError(`${SEAL_RANDOM_BYTES} random bytes wanted`);
  const salt = random.subarray(0, SALT_BYTES);
  const nonce = random.subarray(SALT_BYTES, SEAL_RANDOM_BYTES);
  const key = hkdfSha256(utf8(code), salt, "fleetd config v1", 32);
  return concat(salt, nonce, aesGcmSeal({ key, nonce, associatedData: associatedData(context) }, payload));
}

/** The payload, or null for another code, another context or changed bytes. */
export function open(code: string, sealed: Uint8Array, context: SealContext): Uint8Array | null {
  if (sealed.length < SEAL_RANDOM_BYTES) return null;
  const key = hkdfSha256(utf8(code), sealed.subarray(0, SALT_BYTES), "fleetd config v1", 32);
  const nonce = sealed.subarray(SALT_BYTES, SEAL_RANDOM_BYTES);
  return aesGcmOpen({ key, nonce, associatedData: associatedData(context) }, sealed.subarray(SEAL_RANDOM_BYTES));
}

// A JSON array, so that no two contexts can spell the same bytes.
function associatedData(context: SealContext): Uint8Array {
  return utf8(JSON.stringify([String(context.deviceId), context.runId, context.uuid, context.contentType]));
}
