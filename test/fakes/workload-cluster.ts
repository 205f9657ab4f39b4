import {
  type BootstrapToken,
  CORDON_ANNOTATION,
  type CsrView,
  type NodePatch,
  type NodeView,
  type PodView,
  QUARANTINE_TAINT,
  type TokenView,
} from "../../shared/fleet/cluster.ts";
import { PortError } from "../../shared/ports/error.ts";
import type { WorkloadClusterPort } from "../../shared/ports/workload-cluster.ts";

/** The workload cluster in memory: what nodes, pods and requests there are is the test's to say. */
export class FakeWorkloadCluster implements WorkloadClusterPort {
  down = false;
  /** Whether the controller manager would approve a bootstrap group's requests by itself. */
  autoApproves = false;
  nodeList: NodeView[] = [];
  podList: PodView[] = [];
  csrList: CsrView[] = [];
  /** Token id → secret half. */
  readonly tokens = new Map<string, string>();
  readonly #made = new Map<string, { readonly token: BootstrapToken; readonly content: string }>();

  async nodes(names: readonly string[]): Promise<NodeView[]> {
    this.#check();
    return this.nodeList.filter((node) => names.includes(node.name));
  }

  async patchNode(name: string, uid: string, patch: NodePatch): Promise<void> {
    this.#check();
    const node = this.nodeList.find((one) => one.name === name);
    if (node?.uid !== uid) throw new PortError("conflict", "cluster", `${name} moved`);
    const others = node.taints.filter((taint) => taint.key !== QUARANTINE_TAINT);
    const taint = { key: QUARANTINE_TAINT, value: "", effect: "NoSchedule" };
    const { [CORDON_ANNOTATION]: _old, ...annotations } = node.annotations;
    const changed: NodeView = {
      ...node,
      unschedulable: patch.unschedulable,
      taints: patch.quarantineTaint ? [...others, taint] : others,
      annotations:
        patch.cordonReason === null ? annotations : { ...annotations, [CORDON_ANNOTATION]: patch.cordonReason },
    };
    this.nodeList = this.nodeList.map((one) => (one === node ? changed : one));
  }

  async pods(node: string): Promise<PodView[]> {
    this.#check();
    return this.podList.filter((pod) => pod.node === node);
  }

  async evict(pod: PodView): Promise<{ readonly answer: "accepted" | "gone"; readonly detail: string }> {
    this.#check();
    const there = this.podList.some((one) => one.uid === pod.uid);
    this.podList = this.podList.filter((one) => one.uid !== pod.uid);
    return { answer: there ? "accepted" : "gone", detail: "" };
  }

  async deleteNode(name: string, uid: string): Promise<void> {
    this.#check();
    const node = this.nodeList.find((one) => one.name === name);
    if (node !== undefined && node.uid !== uid) throw new PortError("conflict", "cluster", `${name} moved`);
    this.nodeList = this.nodeList.filter((one) => one !== node);
  }

  async csrs(): Promise<CsrView[]> {
    this.#check();
    return [...this.csrList];
  }

  async approve(csr: CsrView): Promise<void> {
    this.#check();
    const found = this.csrList.find((one) => one.name === csr.name);
    if (found?.uid !== csr.uid || found.resourceVersion !== csr.resourceVersion)
      throw new PortError("conflict", "cluster", `${csr.name} moved`);
    this.csrList = this.csrList.map((one) => (one === found ? { ...one, decision: "approved" } : one));
  }

  async deleteCsr(name: string, uid: string): Promise<void> {
    this.#check();
    this.csrList = this.csrList.filter((one) => one.name !== name || one.uid !== uid);
  }

  async createToken(token: BootstrapToken, secret: string): Promise<void> {
    this.#check();
    // As the real adapter: the same id again is success only with all the same content, its expiry too.
    const content = JSON.stringify({ ...token, secret });
    if (this.tokens.has(token.id) && this.#made.get(token.id)?.content !== content)
      throw new PortError("conflict", "cluster", `token ${token.id} exists`);
    this.#made.set(token.id, { token, content });
    this.tokens.set(token.id, secret);
  }

  async bootstrapTokens(deviceIds?: readonly number[]): Promise<TokenView[]> {
    this.#check();
    const live = [...this.#made.values()].map(({ token }) => token).filter(({ id }) => this.tokens.has(id));
    return live
      .filter(({ deviceId }) => deviceIds?.includes(deviceId) ?? true)
      .map(({ id, deviceId, expiresAtMs }) => ({ id, deviceId, expiresAtMs }));
  }

  async deleteToken(id: string): Promise<void> {
    this.#check();
    this.tokens.delete(id);
  }

  async othersApprove(): Promise<boolean> {
    this.#check();
    return this.autoApproves;
  }

  #check(): void {
    if (this.down) throw new PortError("unavailable", "cluster", "no answer");
  }
}
