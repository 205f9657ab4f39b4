import type { Invariant } from "./_invariant.ts";
import { rowWas } from "./truth.ts";

/** A renewed identity implies: active, a passing boot, a quote by the LAK that was certified for that device. */
export const renewed: Invariant = {
  number: 14,
  on: (sim, event) => {
    if (event.kind !== "renewed") return null;
    const { machine, deviceId, boot, by } = event;
    if (boot !== "os") return `device ${deviceId} renews after a boot that no profile accepts`;
    if (sim.ledger.certified.get(deviceId)?.has(machine) !== true)
      return `machine ${machine + 1} renews for device ${deviceId}, for which it was never certified`;
    return rowWas(sim, deviceId, by, ({ status }) => status === "active")
      ? null
      : `device ${deviceId} renews though it is not active`;
  },
};
