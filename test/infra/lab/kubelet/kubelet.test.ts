import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { bootKubelet, nodeClient } from "../../../../infra/lab/kubelet/kubelet.ts";
import { readMachineConfig } from "../../../../infra/lab/kubelet/machine-config.ts";
import { startLabKubernetes } from "../../../../infra/lab/kubernetes/server.ts";
import { createWorkloadCluster } from "../../../../shared/adapters/kubernetes/workload-cluster.ts";
import type { WorkloadClusterPort } from "../../../../shared/ports/workload-cluster.ts";
import { type KubernetesWorld, labWorld } from "../../../contracts/kubernetes-world.ts";

const SECRET = "0123456789abcdef";
let world: KubernetesWorld;
let port: WorkloadClusterPort;
let configOf: (id: string, hostname: string) => string;

beforeAll(async () => {
  world = await labWorld("cluster");
  port = createWorkloadCluster({ kubeconfigFile: world.kubeconfigFile, timeoutMs: 5_000 });
  configOf = (id, hostname) => {
    const cluster = {
      token: `${id}.${SECRET}`,
      ca: { crt: Buffer.from(world.caPem).toString("base64"), key: "" },
      controlPlane: { endpoint: world.url },
    };
    const named = { apiVersion: "v1alpha1", kind: "HostnameConfig", hostname };
    return [{ version: "v1alpha1", machine: {}, cluster }, named].map((document) => stringify(document)).join("---\n");
  };
});
afterAll(() => world.close());

const makeToken = (id: string, node: string) =>
  port.createToken({ id, deviceId: 1, node, expiresAtMs: Date.now() + 3_600_000 }, SECRET);
const pendingCsr = async () => {
  await expect
    .poll(async () => (await port.csrs()).some(({ decision }) => decision === "pending"), { timeout: 5_000 })
    .toBe(true);
  const found = (await port.csrs()).find(({ decision }) => decision === "pending");
  if (found === undefined) throw new Error("no request");
  return found;
};
const status = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error) => error.status,
  );

describe("a kubelet on the lab", () => {
  it("asks as the real one does, and joins once it is approved", async () => {
    await makeToken("aaaaa1", "w1");
    const booting = bootKubelet({ machineConfig: configOf("aaaaa1", "W1"), timeoutMs: 10_000, pollMs: 20 });
    const csr = await pendingCsr();
    expect(csr.name).toMatch(/^node-csr-[A-Za-z0-9_-]{43}$/);
    expect(csr).toMatchObject({
      username: "system:bootstrap:aaaaa1",
      groups: ["system:bootstrappers", "system:bootstrappers:fleetd", "system:authenticated"],
      usages: ["digital signature", "client auth"],
      request: {
        commonName: "system:node:w1",
        organizations: ["system:nodes"],
        otherSubject: false,
        hasSan: false,
        keyType: "EC",
      },
    });
    expect(await port.nodes(["w1"])).toEqual([]);
    await port.approve(csr, "bootstrap token of node w1");
    const kubelet = await booting;
    const certificate = new X509Certificate(kubelet.certificatePem);
    expect(certificate.subject).toBe("O=system:nodes\nCN=system:node:w1");
    expect(certificate.verify(new X509Certificate(world.caPem).publicKey)).toBe(true);
    expect((await port.nodes(["w1"])).map(({ name }) => name)).toEqual(["w1"]);

    const uncordon = { spec: { unschedulable: false } };
    expect(await status(kubelet.client.call("PATCH", "/api/v1/nodes/w1", uncordon))).toBe(200);
    expect(await status(kubelet.client.call("PATCH", "/api/v1/nodes/w1", { spec: { taints: [] } }))).toBe(403);
    expect(await status(kubelet.client.call("DELETE", "/api/v1/nodes/w1"))).toBe(403);
    expect(await status(kubelet.client.call("PATCH", "/api/v1/nodes/w2", uncordon))).toBe(403);

    const [before] = await port.nodes(["w1"]);
    await port.deleteNode("w1", before?.uid ?? "");
    const again = nodeClient({ url: world.url, caPem: world.caPem }, kubelet.certificatePem, kubelet.keyPem);
    await again.call("POST", "/api/v1/nodes", { metadata: { name: "w1" } });
    expect((await port.nodes(["w1"]))[0]?.uid).not.toBe(before?.uid);
    again.close();
    kubelet.client.close();
  });

  it("takes its own request up again with the same key, and makes another with a new one", async () => {
    await makeToken("aaaaa2", "w2");
    const machineConfig = configOf("aaaaa2", "w2");
    const booting = bootKubelet({ machineConfig, timeoutMs: 10_000, pollMs: 20 });
    await port.approve(await pendingCsr(), "m");
    const first = await booting;
    const second = await bootKubelet({ machineConfig, timeoutMs: 10_000, pollMs: 20, keyPem: first.keyPem });
    expect(second.csrName).toBe(first.csrName);
    await expect(bootKubelet({ machineConfig, timeoutMs: 100, pollMs: 20 })).rejects.toThrow("no certificate");
    expect((await port.csrs()).filter(({ username }) => username === "system:bootstrap:aaaaa2")).toHaveLength(2);
    for (const { client } of [first, second]) client.close();
  });

  it("may ask for another node's name: only the approver looks", async () => {
    await makeToken("aaaaa3", "w3");
    const options = { machineConfig: configOf("aaaaa3", "w3"), nodeName: "cp1", timeoutMs: 100, pollMs: 20 };
    await expect(bootKubelet(options)).rejects.toThrow("no certificate");
    const asked = (await port.csrs()).find(({ username }) => username === "system:bootstrap:aaaaa3");
    expect(asked?.request?.commonName).toBe("system:node:cp1");
  });

  it("is refused with a deleted token, and with one that has expired", async () => {
    await makeToken("aaaaa4", "w4");
    await port.deleteToken("aaaaa4");
    const options = { machineConfig: configOf("aaaaa4", "w4"), timeoutMs: 100 };
    await expect(bootKubelet(options)).rejects.toMatchObject({ status: 401 });
    await port.createToken({ id: "aaaaa5", deviceId: 1, node: "w5", expiresAtMs: Date.now() - 1_000 }, SECRET);
    const late = { machineConfig: configOf("aaaaa5", "w5"), timeoutMs: 100 };
    await expect(bootKubelet(late)).rejects.toMatchObject({ status: 401 });
  });

  it("trusts no other authority's certificate", async () => {
    const other = await startLabKubernetes({ kinds: "cluster", tokens: [] });
    const stranger = nodeClient({ url: world.url, caPem: other.caPem }, "", "");
    await expect(stranger.call("GET", "/api/v1/nodes")).rejects.toThrow(/certificate/);
    stranger.close();
    await other.close();
  });
});

describe("readMachineConfig", () => {
  it("names a node as Talos does, and says what is missing", () => {
    expect(readMachineConfig(configOf("aaaaa9", "Node_7.lab")).nodeName).toBe("node-7.lab");
    expect(() => readMachineConfig(configOf("aaaaa9", ""))).toThrow("no nodeName");
    expect(() => readMachineConfig("cluster: {}")).toThrow("no nodeName");
  });
});
