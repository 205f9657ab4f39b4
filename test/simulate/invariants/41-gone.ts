import { isDone } from "../ledger.ts";
import type { Invariant } from "./_invariant.ts";

/** Row 41 of spec/35: nothing of a device goes before two complete walks of NetBox came without it. */
export const gone: Invariant = {
  number: 41,
  on: (sim, event) => {
    if (event.kind !== "removed" || event.by === null) return null;
    const { walks: now, was, seenBy } = sim.ledger.missed.get(event.deviceId) ?? { walks: 0, was: 0, seenBy: null };
    // That a device was there again counts once a pass, which nobody kept from a device, has done all that it saw, before the one that acts now began.
    const isNoted = isDone(seenBy) && (seenBy?.lastCallStep ?? 0) < event.by.startedAtStep;
    const walks = isNoted ? now : now + was;
    return walks >= 2 ? null : `${event.hardware} is deleted, and ${walks} walks came without device ${event.deviceId}`;
  },
};
