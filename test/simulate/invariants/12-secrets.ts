import type { Sim } from "../sim.ts";
import type { Invariant } from "./_invariant.ts";

/** No secret in anything that fleetd wrote: records, lines, log, events, plain values of the store. */
export const secrets: Invariant = {
  number: 12,
  atRest: (sim: Sim) => {
    const all = sim.ledger.texts.join("\n");
    sim.ledger.texts = [];
    for (const secret of sim.ledger.secrets)
      if (all.includes(secret))
        return `a secret stands in: ${all.slice(Math.max(all.indexOf(secret) - 80, 0), all.indexOf(secret))}`;
    return null;
  },
};
