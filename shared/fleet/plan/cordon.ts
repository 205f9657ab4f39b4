import { CORDON_ANNOTATION, type NodePatch, type NodeView, QUARANTINE_TAINT } from "../cluster.ts";
import { isOwnNode } from "../installed-name.ts";
import { isUnfinished } from "../record.ts";
import type { Draft } from "./draft.ts";

type Reason = "quarantine" | "retire" | "reinstall";

/** Who cordoned a Node, and why; the device is null where an older fleetd did. */
interface Hold {
  readonly reason: string;
  readonly deviceId: number | null;
}

/** What fleetd's annotation says: `<reason>/<NetBox id>`. Null where no device holds the Node. */
function holdOf({ annotations }: NodeView): Hold | null {
  const [reason, deviceId] = annotations[CORDON_ANNOTATION]?.split("/") ?? [];
  if (reason === undefined) return null;
  return { reason, deviceId: deviceId === undefined ? null : Number(deviceId) };
}

function wantedReason(d: Draft, node: NodeView, hold: Hold | null): Reason | null {
  const { record } = d;
  if (record.retire !== null && record.retire.offlineAtMs === null && record.retire.drainSinceMs !== null)
    return "retire";
  if (record.quarantine !== null) return "quarantine";
  const { run } = record;
  if (record.node?.uid !== node.uid) return null;
  const isReplaced = run?.kind === "provision" || run?.kind === "wipe";
  if (isReplaced && (d.o.device.status === "planned" || isUnfinished(run))) return "reinstall";
  // Its disk was touched: whatever its owner sets or asks for next, no pod is to come to it.
  const isHeld = isReplaced || hold?.reason === "reinstall";
  return isHeld && record.installed === null ? "reinstall" : null;
}

/**
 * fleetd's own cordon and taint, asserted every pass: a node can undo its cordon, not its taint. A cordon that a person
 * set is never taken away: only one that carries fleetd's annotation is; and what one device holds, another that has the
 * same name never lets go.
 * @see spec/30-reconcile.md "SPIRE and quarantine"
 */
export function holdNode(d: Draft): void {
  const node = d.o.cluster?.node ?? null;
  if (node === null) return;
  const { id } = d.o.device;
  const hold = holdOf(node);
  const tainted = node.taints.some((t) => t.key === QUARANTINE_TAINT);
  const reason = wantedReason(d, node, hold);
  const isAnothers = hold !== null && hold.deviceId !== null && hold.deviceId !== id;
  if (isAnothers && (reason === null || (node.unschedulable && (tainted || reason !== "quarantine")))) return;
  // One whose memory was lost may have held it: that ends with a new install.
  if (reason === null && !isOwnNode(d.record, node)) return;
  const isPersons = node.unschedulable && hold === null;
  const patch: NodePatch =
    reason === null
      ? { unschedulable: isPersons, quarantineTaint: false, cordon: null }
      : {
          unschedulable: true,
          quarantineTaint: reason === "quarantine",
          cordon: isPersons ? null : `${reason}/${id}`,
        };
  const cordon = node.annotations[CORDON_ANNOTATION] ?? null;
  if (patch.unschedulable === node.unschedulable && patch.quarantineTaint === tainted && patch.cordon === cordon)
    return;
  d.effect({ do: "patch-node", name: node.name, uid: node.uid, patch });
  if (reason === "retire") d.again();
}
