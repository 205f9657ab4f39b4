import { constantTimeEqual } from "../crypto/equal.ts";
import { utf8 } from "./hex.ts";

/** True where every challenge was answered with its own secret, in order; compared in constant time, all of them. */
export function activationsFit(secrets: readonly Uint8Array[], answers: readonly Uint8Array[]): boolean {
  let fits = secrets.length > 0 && secrets.length === answers.length;
  for (const [i, secret] of secrets.entries())
    fits = constantTimeEqual(secret, answers[i] ?? new Uint8Array(secret.length)) && fits;
  return fits;
}

/** Compares two texts of one length in constant time; texts of different lengths are not the same. */
export function sameText(a: string, b: string): boolean {
  return constantTimeEqual(utf8(a), utf8(b));
}
