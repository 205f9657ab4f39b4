import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChangeEntry } from "../../shared/fleet/device.ts";
import type { NetBoxFixture } from "./netbox.ts";
import { type Owner, ownerOf, type Row } from "./netbox-owner.ts";

/** The change log as the source of requests: who asked for what, when, told once, in order, whole. */
export function netboxRequestsContract(make: () => Promise<NetBoxFixture>): void {
  describe("requests in the change log", () => {
    let at: NetBoxFixture;
    let owner: Owner;
    const prefix = `q${Date.now().toString(36)}`;
    let number = 30;
    const add = async (customFields: Readonly<Record<string, unknown>> = {}) => {
      number++;
      return (await owner.addMachine({ name: `${prefix}-${number}`, role: at.role, number, customFields })).id;
    };
    const ask = (id: number, action: string | null) =>
      owner.must("PATCH", `/api/dcim/devices/${id}/`, { custom_fields: { desired_action: action } });
    const asked = (entry: ChangeEntry | undefined) => [
      entry?.user,
      entry?.before?.desiredAction,
      entry?.after?.desiredAction,
    ];

    beforeAll(async () => {
      at = await make();
      owner = ownerOf(at.url, at.adminToken);
    });
    afterAll(() => owner.removeMachines());

    it("a device that is made with a request has it in the entry of its making", async () => {
      const id = await add({ desired_action: "provision" });
      const made = (await at.port.changes(id)).at(-1);
      expect(made).toMatchObject({ action: "create", before: null, user: at.adminUser });
      expect(made?.after).toEqual({ status: "planned", desiredAction: "provision", approvedEks: null });
    });

    it("the same value written again is no entry, though last_updated moves", async () => {
      const id = await add();
      await ask(id, "attest");
      const before = await at.port.device(id);
      const entries = await at.port.changes(id);
      await ask(id, "attest");
      expect((await at.port.device(id))?.lastUpdated).not.toBe(before?.lastUpdated);
      expect(await at.port.changes(id)).toEqual(entries);
    });

    it("an edit of many is one request: an entry for each that changed, none for one that did not", async () => {
      const [first, second] = [await add(), await add({ desired_action: "wipe" })];
      const count = (await at.port.changes(second)).length;
      const body = [first, second].map((id) => ({ id, custom_fields: { desired_action: "wipe" } }));
      const answer = await owner.call("PATCH", "/api/dcim/devices/", body);
      expect(answer.status).toBe(200);
      expect(asked((await at.port.changes(first))[0])).toEqual([at.adminUser, null, "wipe"]);
      expect(await at.port.changes(second)).toHaveLength(count);
      const both = [first, second].map((id) => ({ id, custom_fields: { desired_action: "attest" } }));
      await owner.call("PATCH", "/api/dcim/devices/", both);
      const [one] = await at.port.changes(first);
      const [other] = await at.port.changes(second);
      expect([asked(one), asked(other)]).toEqual([
        [at.adminUser, "wipe", "attest"],
        [at.adminUser, "wipe", "attest"],
      ]);
      expect(one?.requestId).toBe(other?.requestId);
    });

    it("an edit of many with one that is wrong is none, and leaves no entry", async () => {
      const [first, second] = [await add(), await add()];
      const counts = async () => [(await at.port.changes(first)).length, (await at.port.changes(second)).length];
      const before = await counts();
      const body = [
        { id: first, custom_fields: { desired_action: "wipe" } },
        { id: second, custom_fields: { desired_action: "nonsense" } },
      ];
      expect((await owner.call("PATCH", "/api/dcim/devices/", body)).status).toBe(400);
      const twice = [
        { id: first, status: "offline" },
        { id: first, status: "active" },
      ];
      expect((await owner.call("PATCH", "/api/dcim/devices/", twice)).status).toBe(400);
      expect(await counts()).toEqual(before);
    });

    it("each request is an entry of its own, the newest first, also where it is taken back and asked again", async () => {
      const id = await add();
      for (const action of ["provision", null, "provision", "attest"]) await ask(id, action);
      const entries = (await at.port.changes(id)).slice(0, 4);
      expect(entries.map((entry) => [entry.before?.desiredAction, entry.after?.desiredAction])).toEqual([
        ["provision", "attest"],
        [null, "provision"],
        ["provision", null],
        [null, "provision"],
      ]);
      expect(new Set(entries.map((entry) => entry.requestId)).size).toBe(4);
      const times = entries.map((entry) => entry.atMs);
      expect(times).toEqual([...times].sort((a, b) => b - a));
    });

    it("pages of it are parts of the whole, in its order, and the newest are on the first", async () => {
      const id = await add();
      for (const action of ["provision", "attest", "wipe"]) await ask(id, action);
      const log = `/api/core/object-changes/?changed_object_type=dcim.device&changed_object_id=${id}&ordering=-time`;
      const page = async (query: string) => {
        const { results, count } = await owner.must("GET", `${log}&${query}`);
        return { count, requests: (results as Row[]).map((row) => row.request_id) };
      };
      const whole = (await at.port.changes(id)).map((entry) => entry.requestId);
      const pages: unknown[] = [];
      for (let offset = 0; offset < whole.length; offset += 2) {
        const { count, requests } = await page(`limit=2&offset=${offset}`);
        expect(count).toBe(whole.length);
        pages.push(...requests);
      }
      expect(pages).toEqual(whole);
    });

    it("what fleetd itself wrote is told as its own", async () => {
      const id = await add();
      await ask(id, "attest");
      const seen = await at.port.device(id);
      await at.port.patchDevice(id, { desiredAction: null }, seen?.lastUpdated ?? "");
      expect((await at.port.changes(id)).slice(0, 2).map(asked)).toEqual([
        [at.fleetdUser, "attest", null],
        [at.adminUser, null, "attest"],
      ]);
    });
  });
}
