import { describe, expect, it } from "vitest";
import { pass } from "../../../shared/engine/pass.ts";
import { loadFleet } from "../../../shared/engine/records.ts";
import { numbered, type Timed, timedWorld } from "./world.ts";

const HOUR = 3_600_000;

/** Everything that fleetd remembers, and all that it made in Tinkerbell, is gone. */
function loseAll({ world }: Timed): void {
  world.records.loseAll();
  world.bootPlane.loseAll();
}

const enabled = async ({ world }: Timed) =>
  (await world.bootPlane.objects()).workflows.filter((w) => !w.disabled).length;

describe("a fleet's memory that was lost with all else begins anew, and old requests are held (invariant 18)", () => {
  it("by the clock of a process that is an hour behind NetBox's too", async () => {
    const t = await timedWorld();
    t.world.netbox.declare(numbered(1, { status: "active" }));
    t.world.netbox.owner(1, { desiredAction: "wipe" });
    loseAll(t);
    const { nowMs } = t.world.clock;
    const behind = { ...t.world, clock: { nowMs: () => nowMs() - HOUR } };
    expect((await loadFleet(behind)).fleet.epochMs).toBeGreaterThanOrEqual(nowMs());
    await pass(behind);
    await pass(t.world);
    expect(await enabled(t)).toBe(0);
    expect((await t.record(1)).conditions.map((c) => c.type)).toContain("RequestHeld");
    t.pass(1000);
    t.world.netbox.owner(1, { desiredAction: null });
    t.world.netbox.owner(1, { desiredAction: "wipe" });
    await pass(t.world);
    expect(await enabled(t)).toBe(1);
  });

  it("also where all was lost after a pass had read it, and before it read the devices' records", async () => {
    const t = await timedWorld();
    t.world.netbox.declare(numbered(1, { status: "active" }));
    t.world.netbox.owner(1, { desiredAction: "attest" });
    await pass(t.world);
    expect(await enabled(t)).toBe(1);
    t.pass(HOUR);
    t.world.netbox.owner(1, { status: "decommissioning" });
    t.pass(HOUR);
    const { records } = t.world;
    const all = records.all.bind(records);
    records.all = async () => {
      records.all = all;
      loseAll(t);
      return all();
    };
    await pass(t.world);
    await pass(t.world);
    expect(await enabled(t)).toBe(0);
    expect((await t.record(1)).conditions.map((c) => c.type)).toContain("RequestHeld");
  });
});
