import { timingSafeEqual } from "node:crypto";

/** Whether two byte strings are equal, in a time that depends on their length alone. */
export function constantTimeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
