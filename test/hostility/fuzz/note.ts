declare global {
  /** How often each place of the code was passed; only while a fuzzer runs. */
  var hostilityCounts: Uint8Array | undefined;
}

/** The first places are for what a reader says, the others for where it went. */
export const NOTES = 4096;

/** Counts a saying as a place: readers made of the same few layouts differ in nothing else. */
export function note(saying: string): void {
  const counts = globalThis.hostilityCounts;
  if (!counts) return;
  let place = 0;
  for (let i = 0; i < saying.length; i++) place = (Math.imul(place, 31) + saying.charCodeAt(i)) >>> 0;
  const index = place % NOTES;
  counts[index] = (counts[index] ?? 0) + 1;
}
