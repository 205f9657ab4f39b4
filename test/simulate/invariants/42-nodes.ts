import { type NodeView, QUARANTINE_TAINT } from "../../../shared/fleet/cluster.ts";
import type { Enabled } from "../ledger.ts";
import type { Sim } from "../sim.ts";
import type { Invariant } from "./_invariant.ts";
import { recordOf, touchesDisk } from "./truth.ts";

/** Whether something came after the run that ends the Node: another disk run, retirement, a device that is gone, a lost memory. */
function isOver({ ledger }: Sim, { step, workflow }: Enabled): boolean {
  const { deviceId } = workflow;
  const isReplaced = ledger.enabled.some(
    (e) => e.workflow.deviceId === deviceId && e.step > step && touchesDisk(e.workflow),
  );
  const leaves = ledger.rowWas(deviceId, step, (row) => row.status === "decommissioning" || row.status === "offline");
  const isGone = (ledger.rows.get(deviceId) ?? []).some((at) => at.row === null && at.step >= step);
  return isReplaced || leaves || isGone || ledger.lostSince(0, deviceId, "record", "records");
}

/** Cordoned, by fleetd or by a person before, and tainted. */
function isHeld({ unschedulable, taints }: NodeView): boolean {
  return unschedulable && taints.some((t) => t.key === QUARANTINE_TAINT);
}

/** A Node is its device's, whatever others are called: theirs alone deletes it, and nobody lets it go from quarantine. */
export const nodes: Invariant = {
  number: 42,
  on: (sim, event) => {
    if (event.kind !== "node-deleted") return null;
    const run = sim.ledger.joined.get(event.node.uid);
    if (run === undefined || isOver(sim, run)) return null;
    return `Node ${event.node.name} is deleted, and device ${run.workflow.deviceId}, which ${run.workflow.name} installed, is in service`;
  },
  atRest: (sim) => {
    for (const node of sim.cluster.nodeList) {
      const run = sim.ledger.joined.get(node.uid);
      if (run === undefined || isOver(sim, run)) continue;
      const { deviceId } = run.workflow;
      if (recordOf(sim, deviceId)?.quarantine == null || isHeld(node)) continue;
      return `Node ${node.name} is not held, and device ${deviceId}, which it belongs to, is in quarantine`;
    }
    return null;
  },
};
