import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deviceResponse } from "../../../functions/lookup/schema.ts";
import { parseRecord, updateFleet, updateRecord } from "../../../shared/engine/records.ts";
import { freezeClass } from "../../../shared/fleet/class.ts";
import type { DeviceRecord } from "../../../shared/fleet/record.ts";
import { CLASSES } from "../../scenarios/fixtures.ts";
import { numbered } from "../../shared/engine/world.ts";
import { AdminWorld, type Got } from "../admin-world.ts";

const IDS = [11, 12, 13, 14, 15, 16];
let world: AdminWorld;
beforeEach(async () => {
  world = await AdminWorld.start();
  for (const id of IDS) world.deps.world.netbox.declare(numbered(id));
});
afterEach(() => world.close());

const accept = (fleet: string): Promise<Got> =>
  world.ask("admin", "POST", "/accept", { body: JSON.stringify({ fleet }) });
/** A pass over all of NetBox. */
async function walk(): Promise<void> {
  await updateFleet(world.deps.world, (f) => ({ ...f, walks: {} }));
  await world.ask("admin", "POST", "/reconcile", { body: "{}" });
}
const pass = () => world.ask("admin", "POST", "/reconcile", { body: "{}" });
async function records(): Promise<DeviceRecord[]> {
  return (await world.deps.world.records.all()).map(parseRecord).filter((r) => IDS.includes(r.deviceId));
}
async function devices() {
  const got = (await world.ask("admin", "GET", "/devices")).json();
  return got as {
    devices: { name: string }[];
    vanished: { name: string }[];
    fleet: { type: string; devices: number }[];
  };
}

describe("devices that vanished at once", () => {
  const vanish = () =>
    Object.assign(world.deps.world.netbox, {
      devices: async () => [world.deps.world.netbox.row(7)],
      device: async (id: number) => (id === 7 ? world.deps.world.netbox.row(7) : null),
    });
  const hardware = async () => (await world.deps.world.bootPlane.objects()).hardware.length;

  it("keep all until an administrator confirms; then those, at the next pass", async () => {
    await walk();
    expect(await hardware()).toBe(7);
    vanish();
    for (let n = 0; n < 3; n++) await walk();
    expect(await hardware()).toBe(7);
    const seen = await devices();
    expect(seen.vanished.map((v) => v.name)).toHaveLength(6);
    const gone = (await world.ask("admin", "GET", "/devices/w11")).json();
    expect(deviceResponse.parse(gone)).toMatchObject({ name: "w11", status: null, since: expect.any(String) });
    expect(gone.conditions).toMatchObject([{ type: "MassVanish", who: "operator" }]);
    expect(seen.fleet).toMatchObject([{ type: "MassVanish", reason: "many-at-once", devices: 6, who: "operator" }]);
    const { text } = await world.ask("metric", "GET", "/metrics");
    expect(text).toContain('fleetd_fleet_condition{type="MassVanish",reason="many-at-once"} 6');
    expect((await world.ask("metric", "GET", "/")).text).toContain("fleetctl accept --vanished");

    const got = (await accept("vanished")).json();
    expect(got).toEqual({ fleet: "vanished", devices: IDS, by: "token", at: expect.any(String), new: true });
    expect((await accept("vanished")).json()).toEqual({ ...got, new: false });
    await pass();
    expect(await hardware()).toBe(1);
    expect(await devices()).toMatchObject({ vanished: [], fleet: [] });
    expect((await accept("vanished")).json().code).toBe("nothing-to-accept");
  });

  it("a word covers those that were missing then: one that comes back and vanishes with five others is held again", async () => {
    await walk();
    vanish();
    for (let n = 0; n < 3; n++) await walk();
    await accept("vanished");
    const { netbox } = world.deps.world;
    Reflect.deleteProperty(netbox, "devices");
    Reflect.deleteProperty(netbox, "device");
    await walk();
    expect((await devices()).vanished).toEqual([]);
    vanish();
    for (let n = 0; n < 3; n++) await walk();
    expect(await hardware()).toBe(7);
    expect((await devices()).fleet).toMatchObject([{ type: "MassVanish", devices: 6 }]);
  });

  it("nothing is there to be confirmed before", async () => {
    await walk();
    for (const what of ["vanished", "failures"]) {
      const got = await accept(what);
      expect([got.status, got.json().code]).toEqual([409, "nothing-to-accept"]);
    }
  });
});

describe("devices that failed at once", () => {
  const failed = async (id: number, atMs: number) => {
    const cls = freezeClass("talos-worker", CLASSES, null);
    if (cls === null) throw new Error("no class");
    await updateRecord(world.deps.world, { id, name: numbered(id).name }, (r) => ({
      ...r,
      installed: { class: cls, servedAtMs: 1, run: "r", activatedAtMs: 1 },
      verdict: {
        result: "fail",
        by: "renewal",
        atMs,
        codes: ["authority-not-accepted"],
        heldBack: true,
        dbxHash: null,
        sbatLevel: null,
      },
    }));
  };

  it("are a condition only, until an administrator says that they are real: then each is quarantined", async () => {
    for (const id of IDS) await failed(id, Date.now() - 10);
    await walk();
    for (const record of await records()) {
      expect(record.quarantine).toBeNull();
      expect(record.conditions.map((c) => c.type)).toContain("MassFailure");
    }
    expect((await devices()).fleet).toMatchObject([{ type: "MassFailure", devices: 6, who: "operator" }]);
    const got = (await accept("failures")).json();
    expect(got).toEqual({ fleet: "failures", devices: IDS, by: "token", at: expect.any(String), new: true });
    expect((await accept("failures")).json()).toEqual({ ...got, new: false });
    await pass();
    for (const record of await records()) {
      expect(record.quarantine).toMatchObject({ by: "renewal" });
      expect(record.conditions.map((c) => c.type)).not.toContain("MassFailure");
    }
    expect(
      world.deps.world.netbox.journal.filter((l) => l.text.includes("token accepted that its failure")),
    ).toHaveLength(6);
  });

  it("a failure after the word is none of it", async () => {
    for (const id of IDS) await failed(id, Date.now() - 10);
    await walk();
    await accept("failures");
    await failed(11, Date.now() + 60_000);
    await pass();
    const after = new Map((await records()).map((r) => [r.deviceId, r.quarantine !== null]));
    expect([after.get(11), after.get(12)]).toEqual([false, true]);
  });
});
