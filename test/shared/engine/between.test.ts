import { describe, expect, it } from "vitest";
import { pass, passForDevice } from "../../../shared/engine/pass.ts";
import { updateRecord } from "../../../shared/engine/records.ts";
import type { World } from "../../../shared/engine/world.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import { PortError } from "../../../shared/ports/error.ts";
import { counted } from "./counted.ts";
import { numbered, type Timed, timedWorld } from "./world.ts";

const MINUTE = 60_000;
const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

/** A fleet at rest, its last whole walk a moment ago and nothing moved for longer than the slack. */
async function fleet(count: number, change: Partial<Device> = {}, settings: Partial<World["settings"]> = {}) {
  const t = await timedWorld(settings);
  for (const id of ids(count)) t.world.netbox.declare(numbered(id, change));
  for (let n = 0; n < 4; n++) {
    t.pass(10 * MINUTE);
    await pass(t.world);
  }
  t.pass(MINUTE);
  return t;
}

const looked = async (t: Timed) => (await pass(t.world)).devices;

describe("a pass between walks", () => {
  it("costs the same calls however many devices there are: none for a device", async () => {
    const calls: Record<string, number>[] = [];
    for (const count of [2, 40]) {
      const t = await fleet(count);
      const { world, made } = counted(t.world);
      expect(await pass(world)).toMatchObject({ devices: 0, steps: 0 });
      calls.push(made);
    }
    expect(calls[1]).toEqual(calls[0]);
    expect(calls[0]).toEqual({
      "netbox.changedSince": 1,
      "records.fleet": 1,
      "records.open": 1,
      "files.readSpireNodes": 1,
      "store.lock": 1,
      "store.unlock": 1,
    });
  });

  it("a whole walk over a fleet at rest costs no call for a device either", async () => {
    const calls: Record<string, number>[] = [];
    for (const count of [2, 40]) {
      const t = await fleet(count);
      t.pass(10 * MINUTE);
      const { world, made } = counted(t.world);
      expect(await pass(world)).toMatchObject({ devices: count, steps: 0 });
      calls.push(made);
    }
    expect(calls[1]).toEqual(calls[0]);
    expect(calls[0]?.["netbox.changes"]).toBeUndefined();
  });

  it("looks at the row that moved, and at no other", async () => {
    const t = await fleet(5);
    t.world.netbox.owner(3, { desiredAction: "attest" });
    expect(await looked(t)).toBe(1);
    expect((await t.record(3)).run).toMatchObject({ kind: "attest", phase: "waiting" });
  });

  it("goes on with what is under way, though nothing moves", async () => {
    const t = await fleet(3);
    t.world.netbox.owner(2, { desiredAction: "attest" });
    await pass(t.world);
    t.pass(9 * MINUTE);
    const [workflow] = (await t.world.bootPlane.objects([2])).workflows;
    t.world.bootPlane.change(workflow?.name ?? "", { state: "FAILED" });
    await pass(t.world);
    expect((await t.record(2)).run?.result).toBe("failed");
  });

  it("sees what a handler wrote, once, and leaves it alone then", async () => {
    const t = await fleet(3);
    await updateRecord(t.world, numbered(2), (r) => ({
      ...r,
      attention: { code: "x", text: "y", atMs: 1, about: "z" },
    }));
    expect(await looked(t)).toBe(1);
    expect((await t.record(2)).conditions.map((c) => c.type)).toContain("MachineWaits");
    await pass(t.world);
    expect(await looked(t)).toBe(0);
  });

  it("sees again what failed, though its record says nothing of it", async () => {
    const t = await fleet(3);
    t.pass(4 * MINUTE);
    t.world.netbox.owner(2, { shown: { ...t.world.netbox.row(2).shown, dbxHash: null, attestationVerdict: "pass" } });
    await updateRecord(t.world, numbered(2), (r) => ({
      ...r,
      verdict: { result: "fail", by: "intake", atMs: 5, codes: ["not-hookos"], dbxHash: null, sbatLevel: null },
    }));
    const patch = t.world.netbox.patchDevice.bind(t.world.netbox);
    t.world.netbox.patchDevice = async () => Promise.reject(new PortError("unavailable", "netbox", "no answer"));
    t.pass(5 * MINUTE);
    expect((await pass(t.world)).failed).toBe(1);
    t.world.netbox.patchDevice = patch;
    await pass(t.world);
    expect(t.world.netbox.row(2).shown.attestationVerdict).toBe("fail");
  });

  it("asks the whole fleet right before a run starts, not a copy of some seconds", async () => {
    const t = await fleet(3);
    t.world.netbox.owner(2, { desiredAction: "wipe" });
    await t.world.store.put("inventory", JSON.stringify(await t.world.netbox.devices()), MINUTE);
    t.pass(11_000);
    t.world.netbox.owner(3, { installDiskSerial: numbered(2).installDiskSerial });
    await passForDevice(t.world, 2, "pass");
    expect((await t.record(2)).run).toBeNull();
    expect((await t.record(2)).conditions.map((c) => c.reason)).toEqual(["inventory-conflict"]);
  });
});

describe("a whole walk", () => {
  it.each([
    ["ten minutes after the last", (t: Timed) => t.pass(9 * MINUTE)],
    ["where the clock went back", (t: Timed) => t.pass(-2 * MINUTE)],
    ["where the newest row is gone: NetBox was restored", (t: Timed) => restore(t)],
    ["where SPIRE's list is none", (t: Timed) => void Object.assign(t.world, { spireNodes: "[" })],
    ["where the fleet's memory is new", async (t: Timed) => forget(t)],
  ])("comes %s", async (_when, happens) => {
    const t = await fleet(4);
    expect(await looked(t)).toBe(0);
    await happens(t);
    expect(await looked(t)).toBe(4);
  });

  it("alone may say that a device is gone", async () => {
    const t = await fleet(4);
    const rows = await t.world.netbox.devices();
    Object.assign(t.world.netbox, { devices: async () => rows.filter((d) => d.id !== 2), device: async () => null });
    await updateRecord(t.world, numbered(2), (r) => ({ ...r }));
    await pass(t.world);
    expect((await t.record(2)).absentSinceMs).toBeNull();
    t.pass(10 * MINUTE);
    await pass(t.world);
    expect((await t.record(2)).absentSinceMs).not.toBeNull();
  });
});

function restore(t: Timed): void {
  const moved = t.world.netbox.changedSince.bind(t.world.netbox);
  const row = { id: 1, lastUpdated: "2026-01-01T00:00:00.000000Z" };
  t.world.netbox.changedSince = async (since) => ({ ...(await moved(since)), rows: [row] });
}

async function forget(t: Timed): Promise<void> {
  const stored = await t.world.records.fleet();
  const fleet = { ...JSON.parse(stored?.text ?? ""), walks: {} };
  await t.world.records.putFleet(JSON.stringify(fleet), stored?.resourceVersion ?? null);
}

describe("shards", () => {
  it("each looks after its range under its own lock, and both keep one fleet's slots", async () => {
    const t = await timedWorld({ maxDiskRuns: 3 });
    const shard = (from: number, to: number): World => ({
      ...t.world,
      settings: { ...t.world.settings, shard: { from, to } },
    });
    const shards = [shard(1, 3), shard(4, 9)];
    for (const id of ids(6)) t.world.netbox.declare(numbered(id, { status: "active" }));
    const both = () => Promise.all(shards.map((world) => pass(world)));
    expect((await both()).map((r) => [r.devices, r.skipped])).toEqual([
      [3, false],
      [3, false],
    ]);
    t.pass(1000);
    for (const id of ids(6)) t.world.netbox.owner(id, { desiredAction: "wipe" });
    for (let n = 0; n < 4; n++) {
      t.pass(30_000);
      await both();
    }
    const { workflows } = await t.world.bootPlane.objects();
    expect(workflows.filter((w) => !w.disabled)).toHaveLength(3);
    expect(Object.keys(JSON.parse((await t.world.records.fleet())?.text ?? "").walks)).toEqual(["1-3", "4-9"]);
  });
});

describe("the whole fleet, where a run starts", () => {
  it("is brought up to now by what moved, not read again", async () => {
    const t = await fleet(20);
    t.pass(10 * MINUTE);
    t.world.netbox.owner(2, { desiredAction: "attest" });
    t.world.netbox.owner(9, { desiredAction: "attest" });
    const slow = t.world.netbox.device.bind(t.world.netbox);
    t.world.netbox.device = async (id) => {
      t.pass(6_000);
      return slow(id);
    };
    const devices = t.world.netbox.devices.bind(t.world.netbox);
    let all = 0;
    t.world.netbox.devices = async (which) => {
      if (which === undefined) all++;
      return devices(which);
    };
    const { world, made } = counted(t.world);
    await pass(world);
    expect((await t.record(9)).run?.phase).toBe("waiting");
    expect(made["netbox.changedSince"]).toBeGreaterThan(0);
    // The walk's own, and the moved ones by id each time: never all again.
    expect(all).toBe(1);
  });

  it("a serial that another took meanwhile stops the second of two starts", async () => {
    const t = await fleet(20);
    t.pass(10 * MINUTE);
    for (const id of [2, 9]) t.world.netbox.owner(id, { desiredAction: "wipe" });
    const enable = t.world.bootPlane.enableWorkflow.bind(t.world.bootPlane);
    t.world.bootPlane.enableWorkflow = async (...args) => {
      await enable(...args);
      t.world.netbox.owner(12, { serial: numbered(9).serial });
      t.pass(11_000);
    };
    await pass(t.world);
    expect((await t.record(2)).run?.phase).toBe("waiting");
    expect((await t.record(9)).run).toBeNull();
    expect((await t.record(9)).conditions.map((c) => c.reason)).toContain("inventory-conflict");
  });
});
