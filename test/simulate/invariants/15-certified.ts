import type { Invariant } from "./_invariant.ts";
import { rowWas } from "./truth.ts";

/** No certificate to a device that is decommissioning, offline or of another status. */
export const certified: Invariant = {
  number: 15,
  on: (sim, event) => {
    if (event.kind !== "issued") return null;
    const { deviceId, by } = event;
    return rowWas(sim, deviceId, by, ({ status }) => status === "planned" || status === "active")
      ? null
      : `device ${deviceId} is certified though it is neither planned nor active`;
  },
};
