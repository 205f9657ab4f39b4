import type { Invariant } from "./_invariant.ts";
import { recordOf, rowWas } from "./truth.ts";

/** A configuration is readable only while NetBox says planned; gone after serving, on leaving planned, and with the device. */
export const readable: Invariant = {
  number: 5,
  on: (sim, event) => {
    if (event.kind !== "handed") return null;
    const isPlanned = rowWas(sim, event.deviceId, event.by, (row) => row.status === "planned");
    return isPlanned ? null : `device ${event.deviceId}'s configuration goes out though it is not planned`;
  },
  atRest: async (sim) => {
    for (const deviceId of sim.ledger.rows.keys()) {
      const row = sim.netbox.rows.get(deviceId);
      const record = recordOf(sim, deviceId);
      const isRight = row?.status === "planned" && record?.config?.state === "unread";
      const isServing = record?.config?.state === "serving";
      // A store that failed when the serving ended keeps the sealed payload until the pass that drops what is owed.
      const isLeft = record?.due.some((work) => work.do === "drop-config") ?? false;
      // What the record forgot while the payload lay here, it cannot end; a store that went back may hold what was dropped.
      const lost = sim.ledger.lostSince(sim.store.putAtMs(deviceId), deviceId, "record", "records", "store");
      if (!lost && !isLeft && !isRight && !isServing && row !== undefined && (await sim.store.holds(deviceId)))
        return `device ${deviceId} (${row.status}) has a configuration in the store, ${record?.config?.state ?? "none"} by its record`;
    }
    return null;
  },
};
