import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNetBox } from "../../shared/adapters/netbox/netbox.ts";
import type { Device } from "../../shared/fleet/device.ts";
import type { NetBoxPort } from "../../shared/ports/netbox.ts";
import { type AddedMachine, type Owner, ownerOf } from "./netbox-owner.ts";

/** A NetBox with the fleet's fields, role, site `lab`, type `mini-800`, switch `sw-000` with ports port1… and two accounts. */
export interface NetBoxFixture {
  readonly url: string;
  /** The production adapter under fleetd's own narrow account. */
  readonly port: NetBoxPort;
  readonly fleetdToken: string;
  readonly fleetdUser: string;
  readonly adminToken: string;
  readonly adminUser: string;
  readonly role: string;
}

const ek = [{ digest: `sha256:${"ab".repeat(32)}`, source: "receiving scan 7" }];

/** What the production adapter must do against any NetBox: the lab's and the real one. */
export function netboxContract(make: () => Promise<NetBoxFixture>): void {
  let at: NetBoxFixture;
  let owner: Owner;
  let machine: AddedMachine;
  const prefix = `c${Date.now().toString(36)}`;
  const fresh = async (id = machine.id): Promise<Device> => {
    const device = await at.port.device(id);
    if (device === null) throw new Error(`device ${id} is gone`);
    return device;
  };

  beforeAll(async () => {
    at = await make();
    owner = ownerOf(at.url, at.adminToken);
    machine = await owner.addMachine({
      name: `${prefix}-a`,
      role: at.role,
      number: 11,
      switchPort: "port7",
      customFields: { fleet_class: "talos-worker", install_disk: "nvme0n1", approved_eks: ek, protected: true },
    });
  });

  afterAll(() => owner.removeMachines());

  describe("reading", () => {
    it("takes a version with ETags", async () => {
      expect(await at.port.checkVersion()).toMatch(/^4\.[67]\./);
    });

    it("translates a device with its interfaces, far end, addresses and fields", async () => {
      const [device] = await at.port.devices([machine.id]);
      expect(device).toMatchObject({
        id: machine.id,
        name: `${prefix}-a`,
        serial: `SN${prefix}-a`,
        status: "planned",
        fleetClass: "talos-worker",
        desiredAction: null,
        installDisk: "nvme0n1",
        installDiskSerial: null,
        bmcType: null,
        oobAddress: "10.30.0.11",
        approvedEks: ek,
        protected: true,
        clusterTokenApproved: false,
        address: "10.20.0.11/16",
        shown: { attestationVerdict: null, attestedAt: null, fleetRun: null, fleetIdentity: null },
      });
      const host = device?.interfaces.find((each) => each.id === machine.host);
      expect(host).toMatchObject({ name: "eno1", managementOnly: false, primaryMac: null, macs: [] });
      expect(host?.peer).toMatchObject({ deviceName: "sw-000", interfaceName: "port7" });
      const management = device?.interfaces.find((each) => each.id === machine.management);
      expect(management).toMatchObject({ name: "amt", managementOnly: true, peer: null });
    });

    it("gives the same for one, for some and for all", async () => {
      const one = await fresh();
      expect(await at.port.devices([machine.id, 99_999_999])).toEqual([one]);
      expect((await at.port.devices()).find((each) => each.id === machine.id)).toEqual(one);
      expect(await at.port.devices([])).toEqual([]);
    });

    it("does not see a device of another role", async () => {
      const found = await owner.must("GET", "/api/dcim/devices/?name=sw-000");
      const [other] = found.results as { id: number }[];
      expect(await at.port.device(other?.id ?? 0)).toBeNull();
      expect(await at.port.devices([other?.id ?? 0])).toEqual([]);
      expect((await at.port.devices()).some((each) => each.id === other?.id)).toBe(false);
    });

    it("answers null for a device that is not there", async () => {
      expect(await at.port.device(99_999_999)).toBeNull();
    });

    it("reads a cleared selection as null however it was cleared", async () => {
      for (const written of ["", null]) {
        await owner.must("PATCH", `/api/dcim/devices/${machine.id}/`, { custom_fields: { desired_action: "wipe" } });
        expect((await fresh()).desiredAction).toBe("wipe");
        await owner.must("PATCH", `/api/dcim/devices/${machine.id}/`, { custom_fields: { desired_action: written } });
        expect((await fresh()).desiredAction).toBeNull();
      }
    });
  });

  describe("writing", () => {
    it("writes its fields bare, keeps the owner's, and gives back what is stored", async () => {
      const before = await fresh();
      const after = await at.port.patchDevice(
        machine.id,
        { status: "active", attestationVerdict: "pass", dbxHash: "aa", fleetRun: { name: "r1", attempt: 1 } },
        before.lastUpdated,
      );
      expect(after).toEqual(await fresh());
      expect(after).toMatchObject({ status: "active", fleetClass: "talos-worker", approvedEks: ek });
      expect(after.shown).toMatchObject({
        attestationVerdict: "pass",
        dbxHash: "aa",
        fleetRun: { name: "r1", attempt: 1 },
      });
      expect(after.lastUpdated).not.toBe(before.lastUpdated);
      await at.port.patchDevice(machine.id, { status: "planned" }, after.lastUpdated);
    });

    it("does not send what changes nothing: last_updated stays", async () => {
      const first = await at.port.patchDevice(
        machine.id,
        { attestedAt: "2026-11-29T18:00:00.500Z", fleetIdentity: { lak: 1, ldevid: { serial: "0a", spki: "b" } } },
        (await fresh()).lastUpdated,
      );
      const again = await at.port.patchDevice(
        machine.id,
        {
          attestedAt: "2026-11-29T18:00:00.500Z",
          fleetIdentity: { ldevid: { spki: "b", serial: "0a" }, lak: 1 },
          desiredAction: null,
        },
        first.lastUpdated,
      );
      expect(again.lastUpdated).toBe(first.lastUpdated);
    });

    it("is a conflict where the device changed since it was read, and writes nothing", async () => {
      const seen = await fresh();
      await owner.must("PATCH", `/api/dcim/devices/${machine.id}/`, { custom_fields: { desired_action: "attest" } });
      const late = at.port.patchDevice(machine.id, { status: "offline", desiredAction: null }, seen.lastUpdated);
      await expect(late).rejects.toMatchObject({ name: "PortError", kind: "conflict" });
      expect(await fresh()).toMatchObject({ status: "planned", desiredAction: "attest" });
    });

    it("consumes a request by null", async () => {
      const after = await at.port.patchDevice(machine.id, { desiredAction: null }, (await fresh()).lastUpdated);
      expect(after.desiredAction).toBeNull();
    });

    it("is not-found for a device that is not there or of another role", async () => {
      const nobody = at.port.patchDevice(99_999_999, { status: "active" }, "2026-01-01T00:00:00.000000Z");
      await expect(nobody).rejects.toMatchObject({ kind: "not-found" });
    });
  });

  describe("change log", () => {
    it("tells who changed what, newest first", async () => {
      const id = (await owner.addMachine({ name: `${prefix}-log`, role: at.role, number: 12 })).id;
      await owner.must("PATCH", `/api/dcim/devices/${id}/`, {
        custom_fields: { desired_action: "provision", approved_eks: ek },
      });
      await at.port.patchDevice(id, { desiredAction: null, status: "active" }, (await fresh(id)).lastUpdated);
      const changes = await at.port.changes(id);
      expect(changes.map((each) => [each.user, each.action, each.before, each.after]).slice(0, 2)).toEqual([
        [
          at.fleetdUser,
          "update",
          { status: "planned", desiredAction: "provision", approvedEks: ek },
          { status: "active", desiredAction: null, approvedEks: ek },
        ],
        [
          at.adminUser,
          "update",
          { status: "planned", desiredAction: null, approvedEks: null },
          { status: "planned", desiredAction: "provision", approvedEks: ek },
        ],
      ]);
      expect(changes.at(-1)).toMatchObject({ action: "create", before: null, after: { status: "planned" } });
      expect(new Set(changes.map((each) => each.requestId)).size).toBe(changes.length);
      expect(changes.every((each, i) => i === 0 || each.atMs <= (changes[i - 1]?.atMs ?? 0))).toBe(true);
    });
  });

  describe("journal", () => {
    it("finds an entry by its mark, on its own device only", async () => {
      const other = await owner.addMachine({ name: `${prefix}-j`, role: at.role, number: 13 });
      const mark = `mark-${prefix}-1`;
      expect(await at.port.journalHas(machine.id, mark)).toBe(false);
      const seen = await fresh();
      await at.port.addJournal(machine.id, "warning", `Waits for an owner. ${mark}`);
      expect(await at.port.journalHas(machine.id, mark)).toBe(true);
      expect(await at.port.journalHas(other.id, mark)).toBe(false);
      expect((await fresh()).lastUpdated).toBe(seen.lastUpdated);
    });
  });

  describe("a device that is gone", () => {
    it("is null, has no journal, and leaves a change log that ends with its deletion", async () => {
      const { id } = await owner.addMachine({ name: `${prefix}-gone`, role: at.role, number: 15 });
      await owner.call("DELETE", `/api/dcim/devices/${id}/`);
      expect(await at.port.device(id)).toBeNull();
      expect(await at.port.devices([id, machine.id])).toEqual([await fresh()]);
      expect((await at.port.changes(id))[0]).toMatchObject({
        action: "delete",
        before: { status: "planned" },
        after: null,
      });
      await expect(at.port.addJournal(id, "info", "x")).rejects.toMatchObject({ kind: "rejected" });
      expect(await at.port.changes(99_999_999)).toEqual([]);
    });
  });

  describe("MAC addresses", () => {
    it("records a MAC as primary, once, however often it is told", async () => {
      await at.port.recordMac(machine.id, machine.host, "02:aa:00:00:00:01");
      await at.port.recordMac(machine.id, machine.host, "02:AA:00:00:00:01");
      const host = (await fresh()).interfaces.find((each) => each.id === machine.host);
      expect(host).toMatchObject({ primaryMac: "02:aa:00:00:00:01", macs: ["02:aa:00:00:00:01"] });
      const objects = await owner.must("GET", `/api/dcim/mac-addresses/?device_id=${machine.id}`);
      expect(objects.count).toBe(1);
    });

    it("takes up a MAC object that was made but is not primary yet", async () => {
      await owner.must("POST", "/api/dcim/mac-addresses/", {
        mac_address: "02:aa:00:00:00:02",
        assigned_object_type: "dcim.interface",
        assigned_object_id: machine.host,
      });
      await at.port.recordMac(machine.id, machine.host, "02:aa:00:00:00:02");
      const host = (await fresh()).interfaces.find((each) => each.id === machine.host);
      expect(host?.primaryMac).toBe("02:aa:00:00:00:02");
      expect(host?.macs).toEqual(["02:aa:00:00:00:01", "02:aa:00:00:00:02"]);
    });

    it("refuses an interface of another device", async () => {
      const other = await owner.addMachine({ name: `${prefix}-m`, role: at.role, number: 14 });
      const wrong = at.port.recordMac(machine.id, other.host, "02:aa:00:00:00:03");
      await expect(wrong).rejects.toMatchObject({ kind: "rejected" });
    });
  });

  describe("faults", () => {
    it("keeps NetBox's words where it cannot authenticate, and never the token", async () => {
      const bad = createNetBox({
        url: at.url,
        token: "Bearer nbt_nobodynobody.notatoken",
        role: at.role,
        timeoutMs: 5000,
      });
      await expect(bad.devices()).rejects.toMatchObject({
        kind: "rejected",
        message: expect.stringContaining("Invalid v2 token"),
      });
      await expect(bad.devices()).rejects.not.toMatchObject({ message: expect.stringContaining("notatoken") });
    });

    it("takes the token with the word that the UI puts before it", async () => {
      const port = createNetBox({
        url: `${at.url}/`,
        token: `Bearer ${at.fleetdToken}`,
        role: at.role,
        timeoutMs: 5000,
      });
      expect(await port.device(machine.id)).toEqual(await fresh());
    });

    it("is unavailable where nobody listens", async () => {
      const port = createNetBox({ url: "http://127.0.0.1:9", token: "x", role: at.role, timeoutMs: 2000 });
      await expect(port.checkVersion()).rejects.toMatchObject({ kind: "unavailable" });
    });
  });
}
