import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wantedPermissions } from "../../infra/fleetctl/netbox/wanted-rights.ts";
import { createNetBox } from "../../shared/adapters/netbox/netbox.ts";
import type { NetBoxFixture } from "./netbox.ts";
import { addAccount } from "./netbox-accounts.ts";
import { type AddedMachine, type Owner, ownerOf, type Row } from "./netbox-owner.ts";

const FORBIDDEN = "You do not have permission to perform this action.";

/** What an account without a right is told, and what the adapter makes of it. */
export function netboxPermissionsContract(make: () => Promise<NetBoxFixture>): void {
  describe("permissions", () => {
    let at: NetBoxFixture;
    let owner: Owner;
    let fleetd: Owner;
    let machine: AddedMachine;
    let switchId: number;
    let switchPort: number;
    const prefix = `p${Date.now().toString(36)}`;
    const as = (token: string) => createNetBox({ url: at.url, token, role: at.role, timeoutMs: 30_000 });
    const rights = () => wantedPermissions(prefix, at.role);
    const lastUpdated = async () => (await at.port.device(machine.id))?.lastUpdated ?? "";
    const first = async (path: string) => ((await owner.must("GET", path)).results as Row[])[0]?.id ?? 0;
    const rejected = { name: "PortError", kind: "rejected", message: expect.stringContaining(FORBIDDEN) };

    beforeAll(async () => {
      at = await make();
      owner = ownerOf(at.url, at.adminToken);
      fleetd = ownerOf(at.url, at.fleetdToken);
      machine = await owner.addMachine({ name: prefix, role: at.role, number: 71, switchPort: "port11" });
      switchId = await first("/api/dcim/devices/?name=sw-000");
      switchPort = await first("/api/dcim/interfaces/?device=sw-000&name=port1");
    });
    afterAll(() => owner.removeMachines());

    it("no token is refused, and so is one that is none", async () => {
      const words: string[] = [];
      for (const headers of [{}, { authorization: "Bearer" }, { authorization: "Token nothing" }]) {
        const answer = await fetch(`${at.url}/api/dcim/devices/`, { headers });
        expect(answer.status).toBe(403);
        words.push(((await answer.json()) as { detail: string }).detail);
      }
      expect(words).toEqual([
        "Authentication credentials were not provided.",
        expect.stringContaining("Invalid authorization header"),
        "Invalid v1 token",
      ]);
      await expect(as("nothing").device(machine.id)).rejects.toMatchObject({ name: "PortError", kind: "rejected" });
    });

    it("a read-only token reads all, and every write is rejected", async () => {
      const port = as(await addAccount(owner, `${prefix}-reader`, rights(), { writes: false }));
      expect(await port.device(machine.id)).toEqual(await at.port.device(machine.id));
      const seen = await lastUpdated();
      await expect(port.patchDevice(machine.id, { status: "offline" }, seen)).rejects.toMatchObject(rejected);
      await expect(port.addJournal(machine.id, "info", "x")).rejects.toMatchObject(rejected);
      const mac = port.recordMac(machine.id, machine.host, "02:aa:00:00:71:01");
      await expect(mac).rejects.toMatchObject(rejected);
      expect(await lastUpdated()).toBe(seen);
      // Whether the object is there makes no difference to one who may not write at all.
      await expect(port.patchDevice(99_999_999, { status: "offline" }, seen)).rejects.toMatchObject({
        kind: "not-found",
      });
    });

    it("an object outside the constraint is not there: 404 for a write, and for a read", async () => {
      const outside = [
        ["PATCH", `/api/dcim/devices/${switchId}/`, "No Device matches the given query."],
        ["PATCH", `/api/dcim/interfaces/${switchPort}/`, "No Interface matches the given query."],
        ["GET", `/api/dcim/devices/${switchId}/`, "No Device matches the given query."],
      ] as const;
      for (const [method, path, detail] of outside) {
        const body = method === "GET" ? undefined : { description: "x" };
        expect(await fleetd.call(method, path, body)).toEqual({ status: 404, body: { detail } });
      }
      const many = await fleetd.call("PATCH", "/api/dcim/devices/", [{ id: switchId, serial: "x" }]);
      expect(many).toMatchObject({ status: 400, body: { errors: [{ id: switchId }] } });
      await expect(at.port.patchDevice(switchId, { status: "offline" }, "")).rejects.toMatchObject({
        kind: "not-found",
      });
    });

    it("a device that would leave the set stays as it is", async () => {
      const seen = await lastUpdated();
      const role = await first("/api/dcim/device-roles/?slug=switch");
      const answer = await fleetd.call("PATCH", `/api/dcim/devices/${machine.id}/`, { role });
      expect(answer).toEqual({ status: 403, body: { detail: FORBIDDEN } });
      expect(await lastUpdated()).toBe(seen);
    });

    it("fleetd may make, delete and read nothing that it need not", async () => {
      const device = await fleetd.call("GET", `/api/dcim/devices/${machine.id}/`);
      expect(device.status).toBe(200);
      const tries = [
        ["POST", "/api/dcim/devices/", { name: "x" }],
        ["DELETE", `/api/dcim/devices/${machine.id}/`, undefined],
        ["POST", "/api/dcim/cables/", {}],
        ["POST", "/api/ipam/ip-addresses/", { address: "10.1.1.1/24" }],
        ["PATCH", `/api/extras/journal-entries/1/`, { comments: "x" }],
        ["GET", "/api/extras/webhooks/", undefined],
        ["GET", "/api/dcim/sites/", undefined],
      ] as const;
      for (const [method, path, body] of tries)
        expect([method, path, (await fleetd.call(method, path, body)).status]).toEqual([method, path, 403]);
      // Its own tokens every account may see, by NetBox's default permissions; nobody else's.
      const { results } = await fleetd.must("GET", "/api/users/tokens/");
      for (const row of results as Row[]) expect(row.user).toMatchObject({ username: at.fleetdUser });
    });

    it("a MAC may not be recorded on a switch, and none is left behind", async () => {
      const mac = "02:aa:00:00:71:99";
      const made = await fleetd.call("POST", "/api/dcim/mac-addresses/", {
        mac_address: mac,
        assigned_object_type: "dcim.interface",
        assigned_object_id: switchPort,
      });
      expect(made.status).toBe(403);
      expect((await owner.must("GET", `/api/dcim/mac-addresses/?mac_address=${mac}`)).count).toBe(0);
    });

    const needs = [
      ["dcim.device", "view", (port) => port.devices()],
      ["dcim.interface", "view", (port) => port.devices()],
      ["core.objectchange", "view", (port) => port.changes(machine.id)],
      ["extras.journalentry", "view", (port) => port.journalHas(machine.id, "x")],
      ["extras.journalentry", "add", (port) => port.addJournal(machine.id, "info", "x")],
      ["ipam.prefix", "view", (port) => port.gatewaysOf("10.1.1.1")],
      ["dcim.cable", "view", (port) => port.changedSince(since)],
      ["dcim.macaddress", "view", (port) => port.changedSince(since)],
      ["ipam.ipaddress", "view", (port) => port.changedSince(since)],
      ["dcim.macaddress", "add", (port) => port.recordMac(machine.id, machine.host, "02:aa:00:00:71:02")],
    ] as const satisfies readonly (readonly [string, string, (port: NetBoxFixture["port"]) => Promise<unknown>])[];
    const since = { rows: "2026-01-01T00:00:00Z", parts: "2026-01-01T00:00:00Z" };

    it.each(needs)("without %s %s fleetd is rejected in NetBox's words", async (type, action, use) => {
      const grants = rights().map((grant) =>
        grant.types.includes(type) ? { ...grant, actions: grant.actions.filter((each) => each !== action) } : grant,
      );
      const left = grants.filter((grant) => grant.actions.length > 0);
      const port = as(await addAccount(owner, `${prefix}-${type}-${action}`, left));
      await expect(use(port)).rejects.toMatchObject(rejected);
    });
  });
}
