import type { SimWorkflow } from "../peers/boot-plane.ts";
import type { Invariant } from "./_invariant.ts";
import { recordOf, touchesDisk } from "./truth.ts";

/** Unfinished disk runs never exceed the slots, first installs aside. */
export const slots: Invariant = {
  number: 17,
  always: (sim) => {
    const first = new Set(sim.ledger.enabled.filter((e) => e.firstInstall).map((e) => e.workflow.uid));
    const isOver = ({ deviceId, name }: SimWorkflow) => {
      // Ended by its own deadline it holds no slot, though its Workflow may stay open for ever.
      const run = recordOf(sim, deviceId)?.run;
      return run?.name === name && run.terminal?.state === "DEADLINE";
    };
    const open = sim.bootPlane.open().filter((w) => touchesDisk(w) && !first.has(w.uid) && !isOver(w));
    const { maxDiskRuns } = sim.settings;
    if (open.length <= maxDiskRuns) return null;
    // A memory that was lost while they ran has forgotten their slots.
    const since = sim.ledger.enabled.filter((e) => open.some((w) => w.uid === e.workflow.uid)).map((e) => e.atMs);
    const sinceMs = Math.min(...since, sim.nowMs);
    if (open.some((w) => sim.ledger.lostSince(sinceMs, w.deviceId, "fleet", "records", "record"))) return null;
    return `${open.length} disk runs at once (${open.map((w) => w.name).join(", ")}), and ${maxDiskRuns} slots`;
  },
};
