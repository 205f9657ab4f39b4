import { CORDON_ANNOTATION, type NodePatch, type NodeView, QUARANTINE_TAINT } from "../cluster.ts";
import { isOwnNode } from "../installed-name.ts";
import type { SeenCluster } from "../observed.ts";
import { type DeviceRecord, isUnfinished } from "../record.ts";
import type { Draft } from "./draft.ts";

type Reason = "quarantine" | "retire" | "reinstall";

function wantedReason(d: Draft, node: NodeView): Reason | null {
  const { record } = d;
  if (record.retire !== null && record.retire.offlineAtMs === null && record.retire.drainSinceMs !== null)
    return "retire";
  if (record.quarantine !== null) return "quarantine";
  const { run } = record;
  if (record.node?.uid !== node.uid) return null;
  const isReplaced = run?.kind === "provision" || run?.kind === "wipe";
  if (isReplaced && (d.o.device.status === "planned" || isUnfinished(run))) return "reinstall";
  // Its disk was touched: whatever its owner sets or asks for next, no pod is to come to it.
  const isHeld = isReplaced || node.annotations[CORDON_ANNOTATION] === "reinstall";
  if (isHeld && record.installed === null) return "reinstall";
  return null;
}

const isTainted = ({ taints }: NodeView) => taints.some((t) => t.key === QUARANTINE_TAINT);

/** Whether the device may have to do with the Node of its name, or with the CSRs: only then it matters whose they are. */
export function concernsNode(
  { retire, quarantine, node }: Pick<DeviceRecord, "retire" | "quarantine" | "node">,
  seen: Pick<SeenCluster, "node" | "csrs"> | null,
): boolean {
  if (seen === null) return false;
  const isRetiring = retire !== null && retire.offlineAtMs === null;
  if (seen.node === null) return isRetiring && seen.csrs.length > 0;
  const isHeld = isTainted(seen.node) || seen.node.annotations[CORDON_ANNOTATION] !== undefined;
  return isRetiring || quarantine !== null || node !== null || isHeld;
}

/**
 * fleetd's own cordon and taint, asserted every pass: a node can undo its cordon, not its taint. A cordon that a person
 * set is never taken away: only one that carries fleetd's annotation is. One device alone does so with a Node.
 * @see spec/30-reconcile.md "SPIRE and quarantine"
 */
export function holdNode(d: Draft): void {
  const node = d.o.cluster?.node ?? null;
  if (node === null || d.o.othersNode !== null) return;
  const reason = wantedReason(d, node);
  // What is held there another device of that name holds, or one whose memory was lost: that ends with a new install.
  if (reason === null && !isOwnNode(d.record, node)) return;
  const ours = node.annotations[CORDON_ANNOTATION] ?? null;
  const tainted = isTainted(node);
  const patch: NodePatch =
    reason === null
      ? { unschedulable: node.unschedulable && ours === null, quarantineTaint: false, cordonReason: null }
      : {
          unschedulable: true,
          quarantineTaint: reason === "quarantine",
          cordonReason: node.unschedulable && ours === null ? null : reason,
        };
  if (patch.unschedulable === node.unschedulable && patch.quarantineTaint === tainted && patch.cordonReason === ours)
    return;
  d.effect({ do: "patch-node", name: node.name, uid: node.uid, patch });
  if (reason === "retire") d.again();
}
