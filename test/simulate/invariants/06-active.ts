import type { Invariant } from "./_invariant.ts";

/** fleetd writes active only after a complete response whose system no run has overwritten since. */
export const active: Invariant = {
  number: 6,
  on: (sim, event) => {
    if (event.kind !== "patched" || event.patch.status !== "active") return null;
    const { id, status } = event.before;
    if (status !== "planned") return `device ${id} becomes active over ${status}`;
    return sim.ledger.installed.has(id)
      ? null
      : `device ${id} becomes active, but nothing was served that is still there`;
  },
};
