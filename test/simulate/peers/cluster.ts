import {
  type BootstrapToken,
  CORDON_ANNOTATION,
  type CsrView,
  type NodePatch,
  type NodeView,
  type PodView,
  QUARANTINE_TAINT,
  type TokenView,
} from "../../../shared/fleet/cluster.ts";
import { PortError } from "../../../shared/ports/error.ts";
import type { WorkloadClusterPort } from "../../../shared/ports/workload-cluster.ts";
import { frozen } from "../random.ts";

export interface ClusterWatch {
  nowMs(): number;
  approved(csr: CsrView): void;
  tokenMade(token: BootstrapToken, secret: string): void;
  /** Its kubelet was configured by that run. */
  joined(node: NodeView, run: string): void;
  deleted(node: NodeView): void;
}

interface Token extends BootstrapToken {
  readonly secret: string;
}

/** The workload cluster: Nodes, pods that may block their eviction, CSRs, bootstrap tokens. */
export class SimCluster implements WorkloadClusterPort {
  nodeList: readonly NodeView[] = [];
  podList: readonly PodView[] = [];
  csrList: readonly CsrView[] = [];
  /** UIDs of pods whose budget lets nobody go. */
  readonly blocked = new Set<string>();
  readonly tokens = new Map<string, Token>();
  readonly #watch: ClusterWatch;
  #version = 0;

  constructor(watch: ClusterWatch) {
    this.#watch = watch;
  }

  next(): string {
    this.#version++;
    return String(this.#version);
  }

  /** A kubelet registers its Node; one that is there stays. */
  join({ node: name, run }: { readonly node: string; readonly run: string }, pods: number, blocking: boolean): void {
    if (this.nodeList.some((n) => n.name === name)) return;
    const uid = `node-${this.next()}`;
    const node = { name, uid, unschedulable: false, taints: [], annotations: {}, createdAtMs: this.#watch.nowMs() };
    this.nodeList = [...this.nodeList, frozen(node)];
    this.#watch.joined(node, run);
    for (let n = 0; n < pods; n++) {
      const pod: PodView = {
        namespace: "default",
        name: `web-${n}`,
        uid: `pod-${this.next()}`,
        node: name,
        phase: "Running",
        terminating: false,
        mirror: false,
        daemonSet: n === 2,
      };
      this.podList = [...this.podList, frozen(pod)];
      if (blocking && n === 0) this.blocked.add(pod.uid);
    }
  }

  changeNode(name: string, change: Partial<NodeView>): void {
    this.nodeList = this.nodeList.map((n) => (n.name === name ? frozen({ ...n, ...change }) : n));
  }

  async nodes(names: readonly string[]): Promise<NodeView[]> {
    return this.nodeList.filter((node) => names.includes(node.name));
  }

  async patchNode(name: string, uid: string, patch: NodePatch): Promise<void> {
    const node = this.nodeList.find((one) => one.name === name);
    if (node?.uid !== uid) throw new PortError("conflict", "cluster", `${name} moved`);
    const others = node.taints.filter((taint) => taint.key !== QUARANTINE_TAINT);
    const taint = { key: QUARANTINE_TAINT, value: "", effect: "NoSchedule" };
    const { [CORDON_ANNOTATION]: _old, ...annotations } = node.annotations;
    const { cordonReason } = patch;
    this.changeNode(name, {
      unschedulable: patch.unschedulable,
      taints: patch.quarantineTaint ? [...others, taint] : others,
      annotations: cordonReason === null ? annotations : { ...annotations, [CORDON_ANNOTATION]: cordonReason },
    });
  }

  async pods(node: string): Promise<PodView[]> {
    return this.podList.filter((pod) => pod.node === node);
  }

  async evict(pod: PodView): Promise<{ readonly answer: "accepted" | "blocked" | "gone"; readonly detail: string }> {
    if (!this.podList.some((one) => one.uid === pod.uid)) return { answer: "gone", detail: "" };
    if (this.blocked.has(pod.uid)) return { answer: "blocked", detail: "Cannot evict pod: disruption budget" };
    this.podList = this.podList.filter((one) => one.uid !== pod.uid);
    return { answer: "accepted", detail: "" };
  }

  async deleteNode(name: string, uid: string): Promise<void> {
    const node = this.nodeList.find((one) => one.name === name);
    if (node === undefined) return;
    if (node.uid !== uid) throw new PortError("conflict", "cluster", `${name} moved`);
    this.nodeList = this.nodeList.filter((one) => one !== node);
    this.#watch.deleted(node);
    this.podList = this.podList.filter((pod) => pod.node !== name);
  }

  async csrs(): Promise<CsrView[]> {
    return [...this.csrList];
  }

  async approve(csr: CsrView): Promise<void> {
    const found = this.csrList.find((one) => one.name === csr.name);
    if (found?.uid !== csr.uid || found.resourceVersion !== csr.resourceVersion)
      throw new PortError("conflict", "cluster", `${csr.name} moved`);
    const approved: CsrView = frozen({ ...found, decision: "approved", resourceVersion: this.next() });
    this.csrList = this.csrList.map((one) => (one === found ? approved : one));
    this.#watch.approved(found);
  }

  async deleteCsr(name: string, uid: string): Promise<void> {
    this.csrList = this.csrList.filter((one) => one.name !== name || one.uid !== uid);
  }

  async createToken(token: BootstrapToken, secret: string): Promise<void> {
    const there = this.tokens.get(token.id);
    const made: Token = { ...token, secret };
    if (there !== undefined && JSON.stringify(there) !== JSON.stringify(made))
      throw new PortError("conflict", "cluster", `token ${token.id} exists`);
    this.tokens.set(token.id, made);
    this.#watch.tokenMade(token, secret);
  }

  async bootstrapTokens(deviceIds?: readonly number[]): Promise<TokenView[]> {
    return [...this.tokens.values()]
      .filter(({ deviceId }) => deviceIds?.includes(deviceId) ?? true)
      .map(({ id, deviceId, expiresAtMs }) => ({ id, deviceId, expiresAtMs }));
  }

  async deleteToken(id: string): Promise<void> {
    this.tokens.delete(id);
  }

  async othersApprove(): Promise<boolean> {
    return false;
  }
}
