import { CORDON_ANNOTATION, type NodeView, QUARANTINE_TAINT } from "../../../shared/fleet/cluster.ts";
import { nodeName } from "../../../shared/fleet/installed-name.ts";
import type { Enabled } from "../ledger.ts";
import type { Sim } from "../sim.ts";
import type { Task } from "../task.ts";
import type { Invariant } from "./_invariant.ts";
import { recordOf, rowWas, touchesDisk } from "./truth.ts";

/** Whether something ends the Node that this run brought: another disk run since, a retirement, a device that leaves, a lost memory. */
function isOver(sim: Sim, { step, atMs, workflow }: Enabled, by: Task | null): boolean {
  const { deviceId } = workflow;
  const { ledger } = sim;
  const isReplaced = ledger.enabled.some(
    (e) => e.workflow.deviceId === deviceId && e.step > step && touchesDisk(e.workflow),
  );
  const leaves = rowWas(sim, deviceId, by, (row) => row.status === "decommissioning" || row.status === "offline");
  const isGone = (ledger.rows.get(deviceId) ?? []).some((at) => at.row === null && at.step >= step);
  // A retirement that was closed lets go of it for good.
  const record = recordOf(sim, deviceId);
  const isForgotten = record !== null && record.installed === null && record.identity === null;
  return isReplaced || leaves || isGone || isForgotten || ledger.lostSince(atMs, deviceId, "record", "records");
}

/** Cordoned, by fleetd or by a person before, and tainted. */
function isHeld({ unschedulable, taints }: NodeView): boolean {
  return unschedulable && taints.some((t) => t.key === QUARANTINE_TAINT);
}

/** Whether a device of this Node's name has a reason to hold it; one whose system is gone, or not known, may. */
function isWanted(sim: Sim, node: NodeView): boolean {
  const owner = sim.ledger.joined.get(node.uid)?.workflow.deviceId;
  // What is gone from NetBox lets go of nothing: its machine may still run.
  if (owner !== undefined && !sim.netbox.rows.has(owner)) return true;
  const named = [...sim.netbox.rows.values()].flatMap((row) => {
    const record = recordOf(sim, row.id);
    return record !== null && row.status !== "offline" && nodeName(row, record) === node.name ? [record] : [];
  });
  // Nor is there anybody for one whose name nobody has any more, or who was set offline.
  if (named.length === 0) return true;
  return named.some((record) => {
    const isRetiring = record.retire !== null && record.retire.offlineAtMs === null;
    return record.quarantine !== null || isRetiring || record.installed === null || record.node !== null;
  });
}

/** A Node is its device's, whatever others are called: it goes with that one alone, is held in quarantine, and not for nothing. */
export const nodes: Invariant = {
  number: 42,
  on: (sim, event) => {
    if (event.kind !== "node-deleted") return null;
    const run = sim.ledger.joined.get(event.node.uid);
    if (run === undefined || isOver(sim, run, event.by)) return null;
    return `Node ${event.node.name} is deleted, and device ${run.workflow.deviceId}, which ${run.workflow.name} installed, is in service`;
  },
  atRest: (sim) => {
    for (const node of sim.cluster.nodeList) {
      if (node.annotations[CORDON_ANNOTATION] !== undefined && !isWanted(sim, node))
        return `Node ${node.name} is held, and nobody wants it held`;
      const run = sim.ledger.joined.get(node.uid);
      if (run === undefined || isOver(sim, run, null)) continue;
      const { deviceId } = run.workflow;
      if (recordOf(sim, deviceId)?.quarantine == null || isHeld(node)) continue;
      return `Node ${node.name} is not held, and device ${deviceId}, which it belongs to, is in quarantine`;
    }
    return null;
  },
};
