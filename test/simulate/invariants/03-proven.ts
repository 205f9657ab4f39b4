import type { Invariant } from "./_invariant.ts";
import { provesAll, rowWas } from "./truth.ts";

/** No certificate, code or configuration for a machine that has not proven every approved EK in that very session. */
export const proven: Invariant = {
  number: 3,
  on: (sim, event) => {
    if (event.kind === "handed") {
      const codes = sim.ledger.codes.get(event.deviceId) ?? [];
      return codes.includes(event.code) ? null : `device ${event.deviceId}'s configuration goes out for a foreign code`;
    }
    if (event.kind !== "issued" && event.kind !== "coded") return null;
    const { machine, deviceId, by } = event;
    const holds = rowWas(sim, deviceId, by, (row) => provesAll(sim, machine, row));
    return holds
      ? null
      : `machine ${machine + 1} has not all approved keys of device ${deviceId}, and is ${event.kind}`;
  },
};
