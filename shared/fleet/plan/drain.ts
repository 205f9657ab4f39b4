import type { NodeView, PodView } from "../cluster.ts";
import { nodeName } from "../installed-name.ts";
import type { RetireRecord } from "../retire-record.ts";
import type { Draft } from "./draft.ts";

/** Pods that an eviction is asked for: no DaemonSet's, mirror, finished or terminating one (spec/30, "Retirement" 4). */
function toEvict(pods: readonly PodView[]): PodView[] {
  return pods.filter(
    (p) => !p.daemonSet && !p.mirror && !p.terminating && p.phase !== "Succeeded" && p.phase !== "Failed",
  );
}

/** The device's Node; null where there is none, or where it is rather another device's. */
export function ownNode({ o }: Draft): NodeView | null {
  return o.othersNode === null ? (o.cluster?.node ?? null) : null;
}

/**
 * Rows 27 to 30: cordon, one clock of ten minutes for the node with at least one full round of evictions, then Node,
 * Lease, CSRs and token go.
 */
export function drain(d: Draft, retire: RetireRecord): void {
  const { o } = d;
  if (o.cluster === null) {
    d.condition(
      "RetirementWaits",
      "cluster-unavailable",
      "waits: the workload cluster does not answer",
      retire.request.id,
    );
    return;
  }
  const node = ownNode(d);
  if (node === null) {
    const name = `system:node:${nodeName(o.device, d.record)}`;
    const own = o.othersNode === null ? o.cluster.csrs.filter((c) => c.request?.commonName === name) : [];
    if (o.othersNode !== null)
      d.say(
        "warning",
        "node-of-another",
        `Node and CSRs of its name are left: ${o.othersNode} has it too`,
        retire.request.id,
      );
    for (const c of own) d.effect({ do: "delete-csr", name: c.name, uid: c.uid });
    const token = d.record.token;
    if (token !== null && token.deletedAtMs === null) d.effect({ do: "delete-token", id: token.id });
    d.after((r) => ({
      ...r,
      token: r.token === null ? null : { ...r.token, deletedAtMs: r.token.deletedAtMs ?? o.nowMs },
      retire: { ...retire, clusterCleanAtMs: o.nowMs },
    }));
    return d.again();
  }
  const mine = d.record.node;
  if (mine === null || mine.uid !== node.uid) {
    if (retire.drainSinceMs !== null)
      d.say(
        "danger",
        `node-back-${node.uid}`,
        `a Node ${node.name} came back during retirement and is deleted again`,
        retire.request.id,
      );
    d.set({
      node: { name: node.name, uid: node.uid },
      retire: { ...retire, drainSinceMs: retire.drainSinceMs ?? o.nowMs },
    });
    return d.again();
  }
  if (retire.drainSinceMs === null) {
    d.set({ retire: { ...retire, drainSinceMs: o.nowMs } });
    d.say("info", "draining", `node ${node.name} is cordoned and drained`, retire.request.id);
    return d.again();
  }
  if (!node.unschedulable) return; // the cordon is asserted by the plan's own part, every pass
  const pods = toEvict(o.cluster.pods ?? []);
  const over = o.nowMs - retire.drainSinceMs >= o.settings.durations.drainMs && retire.drainRounds > 0;
  if (pods.length > 0 && !over) {
    const blocked = pods.map((p) => `${p.namespace}/${p.name}`);
    d.condition(
      "RetirementWaits",
      "draining",
      `evicting pods from ${node.name}: ${blocked.join(", ")}`,
      retire.request.id,
    );
    d.effect({ do: "evict", pods });
    d.after((r) =>
      r.retire === null ? r : { ...r, retire: { ...r.retire, drainRounds: retire.drainRounds + 1, blocked } },
    );
    return;
  }
  if (pods.length > 0)
    d.say(
      "warning",
      "drain-over",
      `the drain clock is over; these pods blocked: ${pods.map((p) => `${p.namespace}/${p.name}`).join(", ")}`,
      retire.request.id,
    );
  d.effect({ do: "delete-node", name: node.name, uid: node.uid });
  d.say("info", "node-deleted", `node ${node.name} is deleted from the cluster`, retire.request.id);
  d.again();
}
