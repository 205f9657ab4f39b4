import { expect, it } from "vitest";
import { pass } from "../../shared/engine/pass.ts";
import { WholeFleet } from "../../shared/engine/whole-fleet.ts";
import { newRecord } from "../../shared/fleet/record.ts";
import { FakeNetBox } from "../fakes/netbox.ts";
import { numbered, timedWorld } from "../shared/engine/world.ts";

const MINUTE = 60_000;

it("a NetBox that takes long for the whole fleet lets a run start all the same, and is read once for it", async () => {
  const t = await timedWorld();
  for (let id = 1; id <= 3; id++) t.world.netbox.declare(numbered(id, { status: "active" }));
  await pass(t.world);
  t.pass(1000);
  const devices = t.world.netbox.devices.bind(t.world.netbox);
  let whole = 0;
  t.world.netbox.devices = async (which) => {
    if (which === undefined) {
      whole++;
      t.pass(25_000);
    }
    return devices(which);
  };
  t.world.netbox.owner(2, { desiredAction: "wipe" });
  await pass(t.world);
  expect((await t.record(2)).run).toMatchObject({ kind: "wipe", phase: "waiting" });
  // The copy of some seconds that says whether it waits, and the fleet as it is then.
  expect(whole).toBe(2);
});

it("one that takes long for what moved, too", async () => {
  const t = await timedWorld();
  for (let id = 1; id <= 3; id++) t.world.netbox.declare(numbered(id, { status: "active" }));
  await pass(t.world);
  t.pass(1000);
  t.world.netbox.owner(2, { desiredAction: "wipe" });
  for (const name of ["devices", "changedSince"] as const) {
    const ask = t.world.netbox[name].bind(t.world.netbox) as (which: never) => Promise<never>;
    t.world.netbox[name] = async (which?: unknown) => {
      if (!Array.isArray(which)) t.pass(15_000);
      return ask(which as never);
    };
  }
  await pass(t.world);
  expect((await t.record(2)).run).toMatchObject({ kind: "wipe", phase: "waiting" });
});

it("what moved since the fleet was read is seen by NetBox's clock, however far it is from fleetd's", async () => {
  const t = await timedWorld();
  const netbox = new FakeNetBox({ nowMs: () => t.world.clock.nowMs() - 60 * MINUTE }, "fleetd");
  Object.assign(t.world, { netbox });
  for (let id = 1; id <= 3; id++) netbox.declare(numbered(id, { status: "active" }));
  const wholeFleet = new WholeFleet(t.world);
  await wholeFleet.readAfresh();
  const record = newRecord(2, "w2");
  expect(await wholeFleet.conflictOf(netbox.row(2), record)).toBeNull();
  t.pass(MINUTE);
  netbox.owner(3, { installDiskSerial: "DISK2" });
  await wholeFleet.readAfresh();
  expect(await wholeFleet.conflictOf(netbox.row(2), record)).toContain("install_disk_serial");
});
