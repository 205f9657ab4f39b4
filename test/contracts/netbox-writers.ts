import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Device } from "../../shared/fleet/device.ts";
import type { NetBoxFixture } from "./netbox.ts";
import { type Owner, ownerOf } from "./netbox-owner.ts";

const ROUNDS = 4;

/** Two writers of one device: every PATCH saves the whole row, so only If-Match keeps both from losing one. */
export function netboxWritersContract(make: () => Promise<NetBoxFixture>): void {
  describe("two writers", () => {
    let at: NetBoxFixture;
    let owner: Owner;
    let id: number;
    let path: string;
    let seen: Device;
    const fresh = async () => {
      const device = await at.port.device(id);
      if (device === null) throw new Error(`device ${id} is gone`);
      return device;
    };
    const tag = (device: Device) => `W/"${device.lastUpdated.replace("Z", "+00:00")}"`;
    const patch = (body: unknown, ifMatch: string) => owner.call("PATCH", path, body, { "if-match": ifMatch });

    beforeAll(async () => {
      at = await make();
      owner = ownerOf(at.url, at.adminToken);
      id = (await owner.addMachine({ name: `w${Date.now().toString(36)}`, role: at.role, number: 51 })).id;
      path = `/api/dcim/devices/${id}/`;
    });
    beforeEach(async () => {
      await owner.must("PATCH", path, { status: "planned", custom_fields: { sbat_level: null, desired_action: null } });
      seen = await fresh();
    });
    afterAll(() => owner.removeMachines());

    it(`who both read the same row: one writes, the other is a conflict (${ROUNDS} rounds)`, async () => {
      for (let round = 1; round <= ROUNDS; round++) {
        const before = await fresh();
        const ours = at.port.patchDevice(id, { sbatLevel: `${round}` }, before.lastUpdated);
        const theirs = patch({ custom_fields: { dbx_hash: `${round}` } }, tag(before));
        const [our, their] = await Promise.all([
          ours.then(
            () => "written",
            (error: { kind?: string }) => error.kind,
          ),
          theirs.then((answer) => answer.status),
        ]);
        expect([
          ["written", 412],
          ["conflict", 200],
        ]).toContainEqual([our, their]);
        const { sbatLevel, dbxHash } = (await fresh()).shown;
        const isOurs = our === "written";
        expect([sbatLevel === `${round}`, dbxHash === `${round}`]).toEqual([isOurs, !isOurs]);
      }
    });

    it("two of fleetd's: one writes, the other reads again and then both hold", async () => {
      const outcomes = await Promise.allSettled([
        at.port.patchDevice(id, { sbatLevel: "a" }, seen.lastUpdated),
        at.port.patchDevice(id, { status: "offline" }, seen.lastUpdated),
      ]);
      expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(["fulfilled", "rejected"]);
      const lost = outcomes.find((outcome) => outcome.status === "rejected");
      expect(lost?.reason).toMatchObject({ name: "PortError", kind: "conflict" });
      await at.port.patchDevice(id, { sbatLevel: "a", status: "offline" }, (await fresh()).lastUpdated);
      expect(await fresh()).toMatchObject({ status: "offline", shown: { sbatLevel: "a" } });
    });

    it("a stale tag is 412 with the current one, and nothing is written", async () => {
      const stale = tag(seen);
      await owner.must("PATCH", path, { status: "active" });
      const current = tag(await fresh());
      const answer = await fetch(`${at.url}${path}`, {
        method: "PATCH",
        headers: {
          authorization: `Bearer ${at.adminToken}`,
          "content-type": "application/json",
          "if-match": stale,
        },
        body: JSON.stringify({ status: "offline" }),
      });
      expect([answer.status, answer.headers.get("etag")]).toEqual([412, current]);
      expect((await fresh()).status).toBe("active");
    });

    it("any one matches `*`, one tag of a list is enough, and what is no tag matches nothing", async () => {
      expect((await patch({ status: "active" }, "*")).status).toBe(200);
      expect((await patch({ status: "planned" }, `W/"x", ${tag(await fresh())}`)).status).toBe(200);
      expect((await patch({ status: "active" }, "nonsense")).status).toBe(412);
      expect((await fresh()).status).toBe("planned");
    });

    it("an edit of many wants the tag of each: without one of them none is written", async () => {
      const other = (await owner.addMachine({ name: `v${Date.now().toString(36)}`, role: at.role, number: 52 })).id;
      const second = await at.port.device(other);
      if (second === null) throw new Error("the second is gone");
      const body = [
        { id, status: "offline" },
        { id: other, status: "offline" },
      ];
      const many = (ifMatch: string) => owner.call("PATCH", "/api/dcim/devices/", body, { "if-match": ifMatch });
      expect((await many(tag(seen))).status).toBe(412);
      expect([(await fresh()).status, (await at.port.device(other))?.status]).toEqual(["planned", "planned"]);
      expect((await many(`${tag(seen)}, ${tag(second)}`)).status).toBe(200);
      expect([(await fresh()).status, (await at.port.device(other))?.status]).toEqual(["offline", "offline"]);
    });

    it("a journal entry or a MAC beside it is no change of the row", async () => {
      await at.port.addJournal(id, "info", "beside");
      const host = seen.interfaces.find((each) => each.name === "eno1");
      await at.port.recordMac(id, host?.id ?? 0, "02:aa:00:00:51:01");
      const after = await at.port.patchDevice(id, { sbatLevel: "kept" }, seen.lastUpdated);
      expect(after.shown.sbatLevel).toBe("kept");
    });
  });
}
