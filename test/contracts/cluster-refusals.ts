import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClientError, clientOf, LabClient } from "../../infra/lab/kubernetes/client.ts";
import { at, type JsonObject, listAt, textAt } from "../../infra/lab/kubernetes/json.ts";
import { createWorkloadCluster } from "../../shared/adapters/kubernetes/workload-cluster.ts";
import { KUBELET_SIGNER } from "../../shared/fleet/cluster.ts";
import type { WorkloadClusterPort } from "../../shared/ports/workload-cluster.ts";
import type { KubernetesWorld } from "./kubernetes-world.ts";

const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const PODS = "/api/v1/namespaces/default/pods";
const SECRETS = "/api/v1/namespaces/kube-system/secrets";
const ABSENT = "00000000-0000-0000-0000-000000000000";
const SECRET = "0123456789abcdef";

/** What a call was refused with. */
interface Refused {
  readonly status: number;
  readonly body: JsonObject;
}

async function refused(call: Promise<unknown>): Promise<Refused> {
  const error = await call.then(
    () => new Error("it was not refused"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ClientError)) throw error;
  return { status: error.status, body: error.body };
}

/** How a workload cluster says no: to fleetd, to nodes, and to those who try what fleetd never would. */
export function clusterRefusalsContract(peer: string, start: () => Promise<KubernetesWorld>): void {
  describe(`refusals of a workload cluster on ${peer}`, () => {
    let world: KubernetesWorld;
    let port: WorkloadClusterPort;
    let node: LabClient;
    beforeAll(async () => {
      world = await start();
      port = createWorkloadCluster({ kubeconfigFile: world.kubeconfigFile, timeoutMs: 5_000, pageSize: 2 });
      await token("eeeee0", 89);
      node = world.as(`eeeee0.${SECRET}`);
    });
    afterAll(() => world.close());

    const token = (id: string, deviceId: number, expiresInMs = 3_600_000) => {
      const expiresAtMs = Date.now() + expiresInMs;
      return port.createToken({ id, deviceId, node: `w${deviceId}`, expiresAtMs }, SECRET).then(() => expiresAtMs);
    };
    const request = async (name: string, signerName: string = KUBELET_SIGNER, asker = node) => {
      const { body } = JSON.parse(readFileSync("test/vectors/kubernetes/csr-pending.json", "utf8"));
      const spec = { request: body.spec.request, usages: ["digital signature", "client auth"], signerName };
      const kind = { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest" };
      return asker.call("POST", CSRS, { ...kind, metadata: { name }, spec });
    };
    const view = async (name: string) => {
      const found = (await port.csrs()).find((csr) => csr.name === name);
      if (found === undefined) throw new Error(`no CSR ${name}`);
      return found;
    };
    const decide = (csr: JsonObject, type: string, more: JsonObject = {}) => {
      const condition = { type, status: "True", reason: "Test", message: "m" };
      const body = { ...csr, status: { conditions: [condition] }, ...more };
      return world.admin.call("PUT", `${CSRS}/${textAt(csr, "metadata", "name")}/approval`, body);
    };

    it("what an administrator asks for is approved by the cluster itself", async () => {
      await request("by-admin-1", KUBELET_SIGNER, world.admin);
      const reasons = async () =>
        listAt(await world.admin.get(`${CSRS}/by-admin-1`), "status", "conditions").map((one) => textAt(one, "reason"));
      await expect.poll(reasons, { timeout: 20_000 }).toEqual(["AutoApproved"]);
      await request("by-node-1");
      expect((await view("by-node-1")).decision).toBe("pending");
    });

    it("a denied request cannot be approved", async () => {
      await decide(await request("denied-1"), "Denied");
      const denied = await view("denied-1");
      expect(denied.decision).toBe("denied");
      await expect(port.approve(denied, "m")).rejects.toMatchObject({ kind: "rejected" });
      expect((await view("denied-1")).decision).toBe("denied");
    });

    it("an approval cannot be taken back, and goes by no other way than `approval`", async () => {
      const csr = await request("kept-1");
      await decide(csr, "Approved");
      const now = () => world.admin.call("GET", `${CSRS}/kept-1`);
      // The signer is the last to write.
      await expect.poll(async () => textAt(await now(), "status", "certificate"), { timeout: 20_000 }).not.toBe("");
      const approved = await now();
      const emptied = { ...approved, status: { conditions: [] } };
      expect((await refused(world.admin.call("PUT", `${CSRS}/kept-1/approval`, emptied))).status).toBe(422);
      const other = await request("kept-2");
      const body = { ...other, status: { conditions: [{ type: "Approved", status: "True", reason: "x" }] } };
      expect((await refused(world.admin.call("PUT", `${CSRS}/kept-2/status`, body))).status).toBe(422);
    });

    it("an approval of a changed spec approves what was asked for, and no more", async () => {
      const csr = await request("changed-1");
      const spec = { ...(csr.spec as JsonObject), username: "system:admin", usages: ["client auth", "server auth"] };
      const answer = await decide(csr, "Approved", { spec });
      expect(answer.spec).toEqual(csr.spec);
    });

    it("a signer that fleetd has no right to is refused to it", async () => {
      const csr = await request("other-signer-1", "kubernetes.io/kube-apiserver-client");
      const { name, uid, resourceVersion } = csr.metadata as { name: string; uid: string; resourceVersion: string };
      await request("of-ours-1");
      const foreign = { ...(await view("of-ours-1")), name, uid, resourceVersion };
      const error = await port.approve(foreign, "m").catch((reason: unknown) => reason);
      expect(error).toMatchObject({ kind: "rejected" });
      expect(String(error)).toContain(
        'not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"',
      );
    });

    it("a stale request and another of the same name are conflicts", async () => {
      const csr = await request("stale-1");
      await world.admin.call("PATCH", `${CSRS}/stale-1`, { metadata: { annotations: { touched: "1" } } });
      const stale = await refused(decide(csr, "Approved"));
      expect(stale).toMatchObject({ status: 409, body: { reason: "Conflict" } });
      const now = await world.admin.call("GET", `${CSRS}/stale-1`);
      const other = { ...now, metadata: { ...(now.metadata as JsonObject), uid: ABSENT } };
      expect((await refused(decide(other, "Approved"))).status).toBe(409);
    });

    const pod = async (name: string, app: string) => {
      const spec = { nodeName: "n", containers: [{ name: "c", image: "x" }] };
      const metadata = { name, labels: { app } };
      const made = await world.admin.call("POST", PODS, { apiVersion: "v1", kind: "Pod", metadata, spec });
      const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      await world.admin.call("PATCH", `${PODS}/${name}/status`, { status });
      return made;
    };
    const budget = async (name: string, app: string) => {
      const spec = { minAvailable: 1, selector: { matchLabels: { app } } };
      const path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
      const kind = { apiVersion: "policy/v1", kind: "PodDisruptionBudget" };
      await world.admin.call("POST", path, { ...kind, metadata: { name }, spec });
      const counts = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
      await world.admin.call("PATCH", `${path}/${name}/status`, { status: { ...counts, observedGeneration: 1 } });
    };
    const evict = (name: string, more: JsonObject = {}) =>
      world.admin.call("POST", `${PODS}/${name}/eviction`, {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name },
        ...more,
      });

    it("an eviction against a budget is 429 with the cause, against two budgets 500", async () => {
      await budget("pdb-1", "app-1");
      await pod("p-1", "app-1");
      const spent = await refused(evict("p-1"));
      expect(spent).toMatchObject({ status: 429, body: { reason: "TooManyRequests" } });
      const [cause] = listAt(spent.body, "details", "causes");
      expect(cause).toMatchObject({ reason: "DisruptionBudget", message: expect.stringContaining("pdb-1") });
      await budget("pdb-2a", "app-2");
      await budget("pdb-2b", "app-2");
      await pod("p-2", "app-2");
      const twice = await refused(evict("p-2"));
      expect(twice.status).toBe(500);
      expect(textAt(twice.body, "message")).toContain("more than one PodDisruptionBudget");
      expect(twice.body).not.toHaveProperty("reason");
    });

    it("an eviction of what is gone is 404, of another pod of the name 409, of another name 400", async () => {
      expect((await refused(evict("p-never"))).status).toBe(404);
      await pod("p-3", "app-3");
      const preconditions = { uid: ABSENT };
      expect((await refused(evict("p-3", { deleteOptions: { preconditions } }))).status).toBe(409);
      expect((await refused(evict("p-3", { metadata: { name: "p-4" } }))).status).toBe(400);
    });

    it("a bootstrap token is good until it expires, and its Secret goes then", async () => {
      const expiresAtMs = await token("eeeee1", 90, 4_000);
      const ask = () => world.as(`eeeee1.${SECRET}`).call("GET", `${CSRS}/never`);
      expect((await refused(ask())).status).toBe(404);
      const status = async () => (await refused(ask())).status;
      await expect.poll(status, { timeout: 40_000, interval: 500 }).toBe(401);
      expect(Date.now()).toBeGreaterThan(Math.floor(expiresAtMs / 1000) * 1000);
      const kept = () => world.admin.get(`${SECRETS}/bootstrap-token-eeeee1`);
      await expect.poll(kept, { timeout: 40_000, interval: 500 }).toBeNull();
    });

    it("a bootstrap token may ask for a certificate, and nothing else; with another secret nothing at all", async () => {
      await token("eeeee2", 91);
      const node = world.as(`eeeee2.${SECRET}`);
      for (const path of ["/api/v1/nodes", SECRETS]) expect((await refused(node.list(path))).status).toBe(403);
      expect(await node.list(`${CSRS}?limit=1`)).toHaveLength(1);
      const wrong = world.as("eeeee2.fedcba9876543210");
      expect((await refused(wrong.list("/api/v1/nodes"))).status).toBe(401);
      await port.deleteToken("eeeee2");
    });

    it("an account without rights is refused each call, an account of nobody too", async () => {
      const stranger = createWorkloadCluster({ kubeconfigFile: world.strangerKubeconfigFile, timeoutMs: 5_000 });
      await expect(stranger.nodes(["n"])).rejects.toMatchObject({
        kind: "rejected",
        message: expect.stringContaining("403"),
      });
      await expect(stranger.csrs()).rejects.toMatchObject({ kind: "rejected" });
      await expect(stranger.bootstrapTokens()).rejects.toMatchObject({ kind: "rejected" });
      await expect(stranger.othersApprove("g")).rejects.toMatchObject({ kind: "rejected" });
      const nobody = new LabClient({ url: world.url, caPem: world.caPem });
      expect(await refused(nobody.list("/api/v1/nodes"))).toMatchObject({
        status: 403,
        body: {
          reason: "Forbidden",
          message: expect.stringContaining('User "system:anonymous" cannot list resource "nodes"'),
        },
      });
      nobody.close();
      expect((await refused(world.as("of.nobody").list("/api/v1/nodes"))).status).toBe(401);
    });

    it("the cluster's answer of what fleetd may do is what it lets fleetd do", async () => {
      const { client } = clientOf(world.kubeconfigFile);
      const may = async (attributes: JsonObject) => {
        const kind = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" };
        const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        const answer = await client.call("POST", path, { ...kind, spec: { resourceAttributes: attributes } });
        return at(answer, "status", "allowed");
      };
      const signers = { group: "certificates.k8s.io", resource: "signers", verb: "approve" };
      expect(await may({ ...signers, name: KUBELET_SIGNER })).toBe(true);
      expect(await may({ ...signers, name: "kubernetes.io/kube-apiserver-client" })).toBe(false);
      expect(await may({ resource: "pods", subresource: "eviction", verb: "create", namespace: "default" })).toBe(true);
      expect(await may({ resource: "pods", verb: "delete", namespace: "default" })).toBe(false);
      expect(await may({ resource: "secrets", verb: "get", namespace: "kube-system" })).toBe(true);
      expect(await may({ resource: "secrets", verb: "get", namespace: "default" })).toBe(false);
      await expect(refused(client.call("DELETE", `${PODS}/p-1`))).resolves.toMatchObject({ status: 403 });
      await expect(refused(client.list("/api/v1/namespaces/default/secrets"))).resolves.toMatchObject({ status: 403 });
      client.close();
    });
  });
}
