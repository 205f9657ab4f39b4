import type { Invariant } from "./_invariant.ts";

/** Row 41 of spec/35: nothing of a device goes before two complete walks of NetBox came without it. */
export const gone: Invariant = {
  number: 41,
  on: (sim, event) => {
    if (event.kind !== "removed" || event.by === null) return null;
    const missed = sim.ledger.missed.get(event.deviceId) ?? { walks: 0, was: 0, seenStep: 0 };
    // Who acts may have read what it acts on before the device was there again.
    const walks = missed.seenStep >= event.by.startedAtStep ? Math.max(missed.was, missed.walks) : missed.walks;
    return walks >= 2 ? null : `${event.hardware} is deleted, and ${walks} walks came without device ${event.deviceId}`;
  },
};
