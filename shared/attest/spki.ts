import { digest } from "../crypto/hash.ts";
import { toHex } from "./hex.ts";

/** SHA-256 of a SubjectPublicKeyInfo, lower-case hex: how records and NetBox name a key. */
export function spkiSha256(spki: Uint8Array): string {
  return toHex(digest("sha256", spki));
}
