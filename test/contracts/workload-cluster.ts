import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkloadCluster } from "../../shared/adapters/kubernetes/workload-cluster.ts";
import { CORDON_ANNOTATION, QUARANTINE_TAINT, TOKEN_GROUP } from "../../shared/fleet/cluster.ts";
import type { WorkloadClusterPort } from "../../shared/ports/workload-cluster.ts";
import type { KubernetesWorld } from "./kubernetes-world.ts";

const ABSENT = "00000000-0000-0000-0000-000000000000";
const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const SECRET = "0123456789abcdef";

/** The spec of a request that a real kubelet or openssl made (test/vectors/kubernetes). */
function requestSpec(file: string): Record<string, unknown> {
  const { body } = JSON.parse(readFileSync(`test/vectors/kubernetes/${file}.json`, "utf8"));
  const { request, signerName, usages } = body.spec;
  return { request, signerName, usages };
}

/** What fleetd needs of the workload cluster; names are the suite's own. */
export function workloadClusterContract(peer: string, start: () => Promise<KubernetesWorld>): void {
  describe(`workload cluster on ${peer}`, () => {
    let world: KubernetesWorld;
    let port: WorkloadClusterPort;

    beforeAll(async () => {
      world = await start();
      port = createWorkloadCluster({ kubeconfigFile: world.kubeconfigFile, timeoutMs: 5_000, pageSize: 2 });
    });
    afterAll(() => world.close());

    const node = async (name: string, spec: Record<string, unknown> = {}) => {
      await world.admin.call("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name }, spec });
      const [view] = await port.nodes([name]);
      if (view === undefined) throw new Error("no node");
      return view;
    };
    const pod = async (name: string, nodeName: string, metadata: Record<string, unknown> = {}) => {
      const path = "/api/v1/namespaces/default/pods";
      const spec = { nodeName, containers: [{ name: "c", image: "x" }] };
      await world.admin.call("POST", path, { apiVersion: "v1", kind: "Pod", metadata: { name, ...metadata }, spec });
      const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      await world.admin.call("PATCH", `${path}/${name}/status`, { status });
      const view = (await port.pods(nodeName)).find((found) => found.name === name);
      if (view === undefined) throw new Error("no pod");
      return view;
    };
    const budget = async (name: string, app: string) => {
      const spec = { minAvailable: 1, selector: { matchLabels: { app } } };
      const path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
      await world.admin.call("POST", path, {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name },
        spec,
      });
      const status = {
        disruptionsAllowed: 0,
        currentHealthy: 1,
        desiredHealthy: 1,
        expectedPods: 1,
        observedGeneration: 1,
      };
      await world.admin.call("PATCH", `${path}/${name}/status`, { status });
    };
    const token = (id: string, expiresInMs = 3_600_000) => ({
      id,
      deviceId: 7,
      node: "w7",
      expiresAtMs: Date.now() + expiresInMs,
    });
    const ask = (id: string, name: string, file: string) =>
      world.as(`${id}.${SECRET}`).call("POST", CSRS, {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name },
        spec: { ...requestSpec(file), username: "system:masters" },
      });
    const csr = async (name: string) => {
      const view = (await port.csrs()).find((found) => found.name === name);
      if (view === undefined) throw new Error("no csr");
      return view;
    };

    it("finds Nodes by name, one by one or in a list", async () => {
      for (const name of ["n-a", "n-b", "n-c", "n-d", "n-e"]) await node(name);
      expect((await port.nodes(["n-b", "n-absent"])).map(({ name }) => name)).toEqual(["n-b"]);
      // So many that one list of all costs less than a read of each.
      const names = ["n-a", "n-b", "n-c", "n-d", ...Array.from({ length: 21 }, (_, i) => `n-absent-${i}`)];
      expect((await port.nodes(names)).map(({ name }) => name).sort()).toEqual(["n-a", "n-b", "n-c", "n-d"]);
      expect(await port.nodes([])).toEqual([]);
    });

    it("cordons and taints, keeps what is another's, and takes only its own away", async () => {
      const taint = { key: "dedicated", value: "gpu", effect: "NoSchedule" };
      const { uid } = await node("n-taint", { taints: [taint] });
      await port.patchNode("n-taint", uid, { unschedulable: true, quarantineTaint: true, cordonReason: "quarantine" });
      const [cordoned] = await port.nodes(["n-taint"]);
      expect(cordoned).toMatchObject({ unschedulable: true, annotations: { [CORDON_ANNOTATION]: "quarantine" } });
      expect(cordoned?.taints).toContainEqual(taint);
      expect(cordoned?.taints.map(({ key }) => key)).toContain(QUARANTINE_TAINT);
      await port.patchNode("n-taint", uid, { unschedulable: false, quarantineTaint: false, cordonReason: null });
      const [free] = await port.nodes(["n-taint"]);
      expect(free?.unschedulable).toBe(false);
      expect(free?.taints).toContainEqual(taint);
      expect(free?.taints.map(({ key }) => key)).not.toContain(QUARANTINE_TAINT);
      expect(free?.annotations).not.toHaveProperty(CORDON_ANNOTATION);
      const patch = { unschedulable: true, quarantineTaint: true, cordonReason: "x" };
      await expect(port.patchNode("n-taint", ABSENT, patch)).rejects.toMatchObject({ kind: "conflict" });
    });

    it("tells a node's pods apart from others, mirrors and a DaemonSet's", async () => {
      await node("n-pods");
      await pod("plain", "n-pods");
      await pod("mirror", "n-pods", { annotations: { "kubernetes.io/config.mirror": "hash" } });
      const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: ABSENT, controller: true };
      await pod("daemon", "n-pods", { ownerReferences: [owner] });
      await pod("elsewhere", "n-a");
      const pods = (await port.pods("n-pods")).map(({ name, mirror, daemonSet, phase }) => [
        name,
        mirror,
        daemonSet,
        phase,
      ]);
      expect(pods.sort()).toEqual([
        ["daemon", false, true, "Running"],
        ["mirror", true, false, "Running"],
        ["plain", false, false, "Running"],
      ]);
    });

    it("evicts: accepted, blocked with the budget's words, gone", async () => {
      const free = await pod("free", "n-a");
      expect(await port.evict({ ...free, uid: ABSENT })).toMatchObject({ answer: "gone" });
      expect(await port.evict(free)).toEqual({ answer: "accepted", detail: "" });
      expect(await port.evict({ ...free, name: "never" })).toMatchObject({ answer: "gone" });
      await budget("one", "one");
      const guarded = await pod("guarded", "n-a", { labels: { app: "one" } });
      const blocked = await port.evict(guarded);
      expect(blocked).toMatchObject({ answer: "blocked", detail: expect.stringContaining("disruption budget one") });
      await budget("two-a", "two");
      await budget("two-b", "two");
      const twice = await pod("twice", "n-a", { labels: { app: "two" } });
      const stuck = await port.evict(twice);
      expect(stuck).toMatchObject({
        answer: "blocked",
        detail: expect.stringContaining("more than one PodDisruptionBudget"),
      });
    });

    it("deletes a Node by its UID, its Lease with it, and takes 404 as done", async () => {
      const { uid } = await node("n-gone");
      const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
      const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "n-gone" }, spec: {} };
      await world.admin.call("POST", leases, lease);
      await expect(port.deleteNode("n-gone", ABSENT)).rejects.toMatchObject({ kind: "conflict" });
      expect(await world.admin.get(`${leases}/n-gone`)).not.toBeNull();
      await port.deleteNode("n-gone", uid);
      expect(await port.nodes(["n-gone"])).toEqual([]);
      expect(await world.admin.get(`${leases}/n-gone`)).toBeNull();
      await port.deleteNode("n-gone", uid);
    });

    it("makes a bootstrap token that works until it is deleted", async () => {
      await port.createToken(token("aaaaa1"), SECRET);
      const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
      const whoAmI = () =>
        world.as(`aaaaa1.${SECRET}`).call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review);
      expect((await whoAmI()).status).toMatchObject({
        userInfo: { username: "system:bootstrap:aaaaa1", groups: expect.arrayContaining([TOKEN_GROUP]) },
      });
      await port.deleteToken("aaaaa1");
      // A real server remembers a token that was good for some seconds.
      await expect.poll(() => whoAmI().catch((error) => error.status), { timeout: 20_000 }).toBe(401);
      await port.deleteToken("aaaaa1");
    });

    it("lists the bootstrap tokens that are fleetd's, by device where asked, and never their secret", async () => {
      const expiresAtMs = Math.floor(Date.now() / 1000) * 1000 + 3_600_000;
      const made = [70, 71, 71].map((deviceId, n) => ({ id: `aaaab${n}`, deviceId, node: `w${n}`, expiresAtMs }));
      for (const one of made) await port.createToken(one, SECRET);
      const path = "/api/v1/namespaces/kube-system/secrets";
      const labels = { "app.kubernetes.io/managed-by": "fleetd", "fleetd.dev/device-id": "71" };
      const kind = { apiVersion: "v1", kind: "Secret", type: "Opaque" };
      await world.admin.call("POST", path, { ...kind, metadata: { name: "another-of-71", labels } });
      await world.admin.call("POST", path, { ...kind, metadata: { name: "bootstrap-token-aaaac1" } });
      const views = made.map(({ node: _node, ...view }) => view);
      const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);
      expect((await port.bootstrapTokens([71])).sort(byId)).toEqual(views.slice(1));
      const all = (await port.bootstrapTokens()).filter(({ deviceId }) => deviceId !== 7);
      expect(all.sort(byId)).toEqual(views);
      expect(await port.bootstrapTokens([])).toEqual([]);
      for (const { id } of made) await port.deleteToken(id);
      expect(await port.bootstrapTokens([70, 71])).toEqual([]);
    });

    it("takes the same token again as done, another secret as a conflict, and never tells a secret", async () => {
      const wanted = token("aaaaa2");
      await port.createToken(wanted, SECRET);
      await port.createToken(wanted, SECRET);
      const other = await port.createToken(wanted, "fedcba9876543210").catch((error) => error);
      expect(other).toMatchObject({ kind: "conflict" });
      expect(String(other)).not.toContain("fedcba9876543210");
      await expect(port.createToken(token("../../x"), SECRET)).rejects.toMatchObject({ kind: "rejected" });
    });

    it("approves exactly the object that was judged, and the signer issues", async () => {
      await port.createToken(token("bbbbb1"), SECRET);
      await ask("bbbbb1", "node-csr-1", "csr-pending");
      const judged = await csr("node-csr-1");
      expect(judged).toMatchObject({
        username: "system:bootstrap:bbbbb1",
        decision: "pending",
        request: { commonName: "system:node:w1", organizations: ["system:nodes"], hasSan: false },
      });
      await expect(port.approve({ ...judged, resourceVersion: "1" }, "m")).rejects.toMatchObject({ kind: "conflict" });
      await expect(port.approve({ ...judged, uid: ABSENT }, "m")).rejects.toMatchObject({ kind: "conflict" });
      await port.approve(judged, "bootstrap token of node w1");
      const stored = async () => JSON.stringify((await world.admin.get(`${CSRS}/node-csr-1`))?.status ?? {});
      await expect.poll(stored, { timeout: 10_000 }).toContain('"certificate":"LS0t');
      expect(await stored()).toContain("bootstrap token of node w1");
      expect((await csr("node-csr-1")).decision).toBe("approved");
    });

    it("sees the signer refuse another shape, and deletes by UID", async () => {
      await ask("bbbbb1", "extra-org", "csr-extra-org-get");
      await port.approve(await csr("extra-org"), "m");
      await expect.poll(async () => (await csr("extra-org")).decision, { timeout: 10_000 }).toBe("failed");
      const { uid } = await csr("extra-org");
      await expect(port.deleteCsr("extra-org", ABSENT)).rejects.toMatchObject({ kind: "conflict" });
      await port.deleteCsr("extra-org", uid);
      await port.deleteCsr("extra-org", uid);
      expect((await port.csrs()).map(({ name }) => name)).not.toContain("extra-org");
    });

    it("lists only the kubelet client signer's requests", async () => {
      const spec = { ...requestSpec("csr-san-create"), signerName: "kubernetes.io/kube-apiserver-client" };
      const kind = { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest" };
      await world.admin.call("POST", CSRS, { ...kind, metadata: { name: "other-signer" }, spec });
      expect((await port.csrs()).map(({ name }) => name)).not.toContain("other-signer");
    });

    it("tells whether others approve", async ({ skip }) => {
      expect(await port.othersApprove(TOKEN_GROUP)).toBe(false);
      if (world.faults === null) return skip("a binding in the real cluster is not the suite's to make");
      await world.faults({ othersApprove: true });
      expect(await port.othersApprove(TOKEN_GROUP)).toBe(true);
    });
  });
}
