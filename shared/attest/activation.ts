import { constantTimeEqual } from "../crypto/equal.ts";

/** True where every challenge was answered with its own secret, in order; compared in constant time, all of them. */
export function activationsFit(secrets: readonly Uint8Array[], answers: readonly Uint8Array[]): boolean {
  let fits = secrets.length > 0 && secrets.length === answers.length;
  for (const [i, secret] of secrets.entries())
    fits = constantTimeEqual(secret, answers[i] ?? new Uint8Array(secret.length)) && fits;
  return fits;
}
