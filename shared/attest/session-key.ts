import { hkdfSha256 } from "../crypto/kdf.ts";
import { utf8 } from "./hex.ts";

/**
 * A session key of a purpose and a store mark: a flushed store makes another mark, and every older session ends.
 * @see spec/10-protocol.md, head
 */
export function sessionKey(secret: Uint8Array, purpose: string, storeMark: string): Uint8Array {
  return hkdfSha256(secret, utf8(storeMark), `fleetd session v1 ${purpose}`, 32);
}
