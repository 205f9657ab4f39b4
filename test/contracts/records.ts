import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRecords } from "../../shared/adapters/kubernetes/records.ts";
import type { RecordsPort } from "../../shared/ports/records.ts";
import type { KubernetesWorld } from "./kubernetes-world.ts";

const UUID = "4c4c4544-0000-0000-0000-0000000000a1";

/** What fleetd needs of its memory; device ids are the suite's own. */
export function recordsContract(peer: string, start: () => Promise<KubernetesWorld>): void {
  describe(`records on ${peer}`, () => {
    let world: KubernetesWorld;
    let port: RecordsPort;
    let base: string;
    const record = (
      deviceId: number,
      text: string,
      uuid: string | null = null,
      open = false,
      node: string | null = null,
    ) => ({
      deviceId,
      name: `Node ${deviceId}`,
      uuid,
      node,
      open,
      text,
    });

    beforeAll(async () => {
      world = await start();
      const { kubeconfigFile, namespace } = world;
      port = createRecords({ kubeconfigFile, namespace, timeoutMs: 5_000, pageSize: 2 });
      base = `/api/v1/namespaces/${namespace}/configmaps`;
    });
    afterAll(() => world.close());

    it("creates once, reads back the same text, and replaces by resourceVersion only", async () => {
      expect(await port.get(8001)).toBeNull();
      const made = await port.put(record(8001, '{"state":"waiting","text":"ä\\n"}'), null);
      expect(await port.get(8001)).toEqual(made);
      await expect(port.put(record(8001, "other"), null)).rejects.toMatchObject({ kind: "conflict" });
      const next = await port.put(record(8001, "second"), made.resourceVersion);
      await expect(port.put(record(8001, "stale"), made.resourceVersion)).rejects.toMatchObject({ kind: "conflict" });
      const { resourceVersion } = next;
      expect(await port.get(8001)).toEqual({
        deviceId: 8001,
        open: false,
        node: null,
        text: "second",
        resourceVersion,
      });
    });

    it("lists more records than a page holds", async () => {
      for (let id = 8011; id <= 8015; id += 1) await port.put(record(id, `text ${id}`), null);
      const found = (await port.all()).map(({ deviceId, text }) => [deviceId, text]);
      for (let id = 8011; id <= 8015; id += 1) expect(found).toContainEqual([id, `text ${id}`]);
    });

    it("finds the open ones, and those of named devices, and follows their change", async () => {
      const made = await port.put(record(8071, "a", null, true), null);
      await port.put(record(8072, "b", null, true), null);
      await port.put(record(8073, "c"), null);
      const ids = (found: readonly { deviceId: number }[]) => found.map(({ deviceId }) => deviceId).sort();
      expect(ids(await port.open())).toEqual([8071, 8072]);
      expect((await port.of([8071, 8073])).map((one) => [one.deviceId, one.open, one.text]).sort()).toEqual([
        [8071, true, "a"],
        [8073, false, "c"],
      ]);
      expect(await port.of([])).toEqual([]);
      await port.put(record(8071, "a"), made.resourceVersion);
      expect(ids(await port.open())).toEqual([8072]);
    });

    it("finds records by UUID, two where two have it, and follows its change", async () => {
      const first = await port.put(record(8021, "a", UUID), null);
      await port.put(record(8022, "b", UUID), null);
      expect((await port.byUuid(UUID)).map(({ deviceId }) => deviceId).sort()).toEqual([8021, 8022]);
      await port.put(record(8021, "a"), first.resourceVersion);
      expect((await port.byUuid(UUID)).map(({ deviceId }) => deviceId)).toEqual([8022]);
      expect(await port.byUuid("x,app.kubernetes.io/managed-by=other")).toEqual([]);
    });

    it("finds records by the name of their Node, and follows its change", async () => {
      const first = await port.put(record(8081, "a", null, false, "w-81"), null);
      await port.put(record(8082, "b", null, true, "w-81"), null);
      expect((await port.byNode("w-81")).map(({ deviceId, node, text }) => [deviceId, node, text]).sort()).toEqual([
        [8081, "w-81", "a"],
        [8082, "w-81", "b"],
      ]);
      await port.put(record(8081, "a"), first.resourceVersion);
      expect((await port.byNode("w-81")).map(({ deviceId }) => deviceId)).toEqual([8082]);
      expect(await port.byNode("w-8")).toEqual([]);
      expect(await port.byNode("w-81,fleetd.dev/open=true")).toEqual([]);
    });

    it("removes by resourceVersion, and what is gone is done", async () => {
      const made = await port.put(record(8031, "a"), null);
      await expect(port.remove(8031, "1")).rejects.toMatchObject({ kind: "conflict" });
      await port.remove(8031, made.resourceVersion);
      expect(await port.get(8031)).toBeNull();
      await port.remove(8031, made.resourceVersion);
      await expect(port.put(record(8031, "back"), made.resourceVersion)).rejects.toMatchObject({ kind: "conflict" });
    });

    it("refuses a ConfigMap that is not fleetd's", async () => {
      const metadata = { name: "fleetd-8041", namespace: world.namespace };
      await world.admin.call("POST", base, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { k: "v" } });
      await expect(port.get(8041)).rejects.toMatchObject({ kind: "rejected" });
      await expect(port.put(record(8041, "a"), null)).rejects.toMatchObject({ kind: "rejected" });
      await expect(port.remove(8041, "1")).rejects.toMatchObject({ kind: "rejected" });
      expect((await port.all()).map(({ deviceId }) => deviceId)).not.toContain(8041);
      expect((await world.admin.get(`${base}/fleetd-8041`))?.data).toEqual({ k: "v" });
    });

    it("keeps the fleet's text under its resourceVersion", async () => {
      expect(await port.fleet()).toBeNull();
      const made = await port.putFleet("one", null);
      await expect(port.putFleet("again", null)).rejects.toMatchObject({ kind: "conflict" });
      const next = await port.putFleet("two", made.resourceVersion);
      await expect(port.putFleet("stale", made.resourceVersion)).rejects.toMatchObject({ kind: "conflict" });
      expect(await port.fleet()).toEqual({ text: "two", resourceVersion: next.resourceVersion });
      expect((await port.all()).some(({ text }) => text === "two")).toBe(false);
    });

    it("is unavailable after a write whose answer was lost, though it was done", async ({ skip }) => {
      if (world.faults === null) return skip("only the lab's API can be made to misbehave");
      await world.faults({ loseAnswers: 1 });
      await expect(port.put(record(8051, "done"), null)).rejects.toMatchObject({ kind: "unavailable" });
      expect((await port.get(8051))?.text).toBe("done");
    });

    it("meets a write that lands late as a conflict of the later one, or is met by it", async ({ skip }) => {
      if (world.faults === null) return skip("only the lab's API can be made to misbehave");
      const made = await port.put(record(8061, "first"), null);
      await world.faults({ lateWrites: 1, lateMs: 200 });
      await expect(port.put(record(8061, "late"), made.resourceVersion)).rejects.toMatchObject({ kind: "unavailable" });
      await expect.poll(async () => (await port.get(8061))?.text, { timeout: 5_000 }).toBe("late");
      await expect(port.put(record(8061, "next"), made.resourceVersion)).rejects.toMatchObject({ kind: "conflict" });
    });
  });
}
