import type { Happening } from "../journal.ts";
import type { CountersRecord } from "../record.ts";

const HALF = 0x8000_0000;

/** Unsigned 32-bit difference: a TPM shows a storage key's counters with a constant added, so they may wrap. */
const since = (then: number, now: number): number => (now - then) >>> 0;

function wentBack(then: CountersRecord, now: CountersRecord): boolean {
  const resets = since(then.resetCount, now.resetCount);
  if (resets !== 0) return resets >= HALF;
  const restarts = since(then.restartCount, now.restartCount);
  if (restarts !== 0) return restarts >= HALF;
  return now.safe && BigInt(now.clock) < BigInt(then.clock);
}

/**
 * What is odd about a quote's counters after those of an earlier quote: told, never a refusal. Counters of another LAK
 * say nothing, since each key's are obfuscated by a value of its own.
 * @see spec/20-verification.md "Quote"
 */
export function countersWarnings(then: CountersRecord | null, now: CountersRecord): Happening[] {
  if (then === null || then.lakSpkiSha256 !== now.lakSpkiSha256) return [];
  const warning = (code: string, text: string): Happening => ({
    level: "warning",
    code,
    text,
    about: String(now.atMs),
  });
  return [
    ...(wentBack(then, now)
      ? [warning("counters-back", "the TPM's reset counter or clock went back: its state may be a restored copy")]
      : []),
    ...(then.firmwareVersion === now.firmwareVersion
      ? []
      : [warning("tpm-firmware-changed", "the TPM's firmware version changed since the last renewal")]),
  ];
}
