import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NetBoxFixture } from "./netbox.ts";
import { type AddedMachine, type Owner, ownerOf } from "./netbox-owner.ts";

const SETTLED_MS = 5;

/** What passes between walks ask any NetBox: what moved since a moment, and the rows of a range of ids. */
export function netboxMovedContract(make: () => Promise<NetBoxFixture>): void {
  describe("what moved", () => {
    let at: NetBoxFixture;
    let owner: Owner;
    let still: AddedMachine;
    let moving: AddedMachine;
    const prefix = `m${Date.now().toString(36)}`;

    beforeAll(async () => {
      at = await make();
      owner = ownerOf(at.url, at.adminToken);
      const order = (name: string, number: number) => ({ name: `${prefix}-${name}`, role: at.role, number });
      still = await owner.addMachine(order("still", 21));
      moving = await owner.addMachine({ ...order("moving", 22), switchPort: "port9" });
    });
    afterAll(() => owner.removeMachines());

    /** NetBox's own time right after the machines were made, by the newest thing there is. */
    const afterAllMade = async () => {
      const newest = await owner.must("PATCH", `/api/dcim/interfaces/${still.management}/`, {
        description: `${Date.now()}`,
      });
      // The next millisecond, and past it: what is changed from now on is later.
      const since = Date.parse(String(newest.last_updated)) + 1;
      await sleep(SETTLED_MS);
      return new Date(since).toISOString();
    };
    const moved = async (since: string) => at.port.changedSince({ rows: since, parts: since });

    it("is nothing after a moment in which nothing did", async () => {
      const since = await afterAllMade();
      expect(await moved(since)).toEqual({ rows: [], parts: [] });
    });

    it("is a row that was edited, with its new last_updated", async () => {
      const since = await afterAllMade();
      await owner.must("PATCH", `/api/dcim/devices/${moving.id}/`, { custom_fields: { desired_action: "attest" } });
      const device = await at.port.device(moving.id);
      const { rows } = await moved(since);
      expect(rows).toEqual([{ id: moving.id, lastUpdated: device?.lastUpdated }]);
      expect((await moved(String(device?.lastUpdated))).rows.map((row) => row.id)).toEqual([moving.id]);
    });

    it.each([
      ["an interface", () => owner.must("PATCH", `/api/dcim/interfaces/${moving.host}/`, { description: "x" })],
      ["a MAC that fleetd recorded", () => at.port.recordMac(moving.id, moving.host, "02:aa:00:00:07:22")],
      ["an address", async () => owner.must("PATCH", await addressOf(), { description: "x" })],
      ["a cable", async () => owner.must("PATCH", await cableOf(), { label: "x" })],
    ] as const)("is the device of %s", async (_what, change) => {
      const since = await afterAllMade();
      await change();
      expect((await moved(since)).parts).toContain(moving.id);
      expect((await moved(since)).parts).not.toContain(still.id);
    });

    const first = async (path: string) => {
      const [row] = (await owner.must("GET", path)).results as { id: number }[];
      return row?.id ?? 0;
    };
    const addressOf = async () =>
      `/api/ipam/ip-addresses/${await first(`/api/ipam/ip-addresses/?device_id=${moving.id}`)}/`;
    const cableOf = async () => `/api/dcim/cables/${await first(`/api/dcim/cables/?device_id=${moving.id}`)}/`;

    it("and a range of ids reads those rows alone, as the whole list has them", async () => {
      const range = await at.port.devices({ from: still.id, to: still.id });
      expect(range).toEqual((await at.port.devices()).filter((device) => device.id === still.id));
      expect(range).toHaveLength(1);
    });
  });
}
