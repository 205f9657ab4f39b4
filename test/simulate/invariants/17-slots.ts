import type { Invariant } from "./_invariant.ts";
import { touchesDisk } from "./truth.ts";

/** Unfinished disk runs never exceed the slots, first installs aside. */
export const slots: Invariant = {
  number: 17,
  always: (sim) => {
    const first = new Set(sim.ledger.enabled.filter((e) => e.firstInstall).map((e) => e.workflow.uid));
    const open = sim.bootPlane.open().filter((w) => touchesDisk(w) && !first.has(w.uid));
    const { maxDiskRuns } = sim.settings;
    if (open.length <= maxDiskRuns || sim.ledger.lostSince(0, "fleet", "records", "record")) return null;
    return `${open.length} disk runs at once (${open.map((w) => w.name).join(", ")}), and ${maxDiskRuns} slots`;
  },
};
