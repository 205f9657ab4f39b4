import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRecords } from "../../../shared/adapters/kubernetes/records.ts";
import type { RecordsPort } from "../../../shared/ports/records.ts";
import type { KubernetesWorld } from "../../contracts/kubernetes-world.ts";
import { type RealCluster, startCluster } from "./world.ts";

describe("a real API in trouble", () => {
  let cluster: RealCluster | undefined;
  let world: KubernetesWorld | undefined;
  let port: RecordsPort;
  const record = (deviceId: number, text: string) => ({
    deviceId,
    name: "n",
    uuid: null,
    node: null,
    open: false,
    text,
  });

  beforeAll(async () => {
    cluster = await startCluster("tinkerbell");
    world = await cluster.world();
    const { kubeconfigFile, namespace } = world;
    port = createRecords({ kubeconfigFile, namespace, timeoutMs: 2_000 });
  });
  afterAll(async () => {
    await world?.close();
    await cluster?.stop();
  });

  it("is unavailable while its server is frozen, and well again after", async () => {
    const made = await port.put(record(8101, "before"), null);
    const server = cluster?.api.apiServer.child;
    server?.kill("SIGSTOP");
    try {
      await expect(port.get(8101)).rejects.toMatchObject({ kind: "unavailable" });
      await expect(port.put(record(8101, "late"), made.resourceVersion)).rejects.toMatchObject({ kind: "unavailable" });
    } finally {
      server?.kill("SIGCONT");
    }
    // What came too late for us is done all the same, or not: the version tells.
    await expect.poll(async () => (await port.get(8101))?.text, { timeout: 20_000 }).toMatch(/^(before|late)$/);
    const now = await port.get(8101);
    await port.put(record(8101, "after"), now?.resourceVersion ?? "");
    await expect(port.put(record(8101, "stale"), made.resourceVersion)).rejects.toMatchObject({ kind: "conflict" });
    expect((await port.get(8101))?.text).toBe("after");
  });

  it("is unavailable for writes while etcd is frozen; a write that lands late is met by its version", async () => {
    const made = await port.put(record(8102, "before"), null);
    const etcd = cluster?.api.etcd.child;
    etcd?.kill("SIGSTOP");
    try {
      await expect(port.put(record(8102, "late"), made.resourceVersion)).rejects.toMatchObject({ kind: "unavailable" });
    } finally {
      etcd?.kill("SIGCONT");
    }
    const next = () =>
      port.put(record(8102, "next"), made.resourceVersion).then(
        () => "written",
        (error: { kind?: string }) => error.kind,
      );
    await expect.poll(next, { timeout: 30_000, interval: 500 }).toMatch(/^(written|conflict)$/);
    expect((await port.get(8102))?.text).toMatch(/^(next|late)$/);
  });
});
