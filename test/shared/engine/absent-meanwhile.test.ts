import { expect, it } from "vitest";
import { pass } from "../../../shared/engine/pass.ts";
import { updateRecord } from "../../../shared/engine/records.ts";
import { numbered, timedWorld } from "./world.ts";

it("a device that another process saw again since the walk read its record keeps its objects (simulation, seed 81)", async () => {
  const t = await timedWorld();
  const { world } = t;
  const { netbox } = world;
  netbox.declare(numbered(8));
  await pass(world);
  const [devices, byId] = [netbox.devices.bind(netbox), netbox.device.bind(netbox)];
  let meanwhile = async () => {};
  netbox.devices = async (which) => (await devices(which)).filter((d) => d.id !== 8);
  netbox.device = async (id) => {
    if (id !== 8) return byId(id);
    await meanwhile();
    return null;
  };
  const walk = async () => {
    t.pass(world.settings.durations.fullWalkMs);
    await pass(world);
  };
  const hardware = async () => (await world.bootPlane.objects([8])).hardware.length;
  await walk();
  expect((await t.record(8)).absentSinceMs).not.toBeNull();
  meanwhile = async () => void (await updateRecord(world, numbered(8), (r) => ({ ...r, absentSinceMs: null })));
  await walk();
  expect(await hardware()).toBe(1);
  // That it was away counts from now on again.
  meanwhile = async () => {};
  await walk();
  expect(await hardware()).toBe(1);
  await walk();
  expect(await hardware()).toBe(0);
});

it("a walk that lists a device again counts, though it is gone once more when it is looked at", async () => {
  const t = await timedWorld();
  const { world } = t;
  for (const id of [7, 8]) world.netbox.declare(numbered(id));
  const walk = async () => {
    t.pass(11 * 60_000);
    await pass(world);
  };
  const hardware = async () => (await world.bootPlane.objects()).hardware.map((h) => h.deviceId);
  await walk();
  const devices = world.netbox.devices.bind(world.netbox);
  const without = async () => (await devices()).filter((d) => d.id !== 8);
  world.netbox.devices = without;
  await walk();
  expect((await t.record(8)).absentSinceMs).not.toBeNull();
  // The list takes so long that each device is read by id again: and is not there.
  world.netbox.devices = async () => {
    const all = await devices();
    t.pass(60 * 60_000);
    return all;
  };
  const device = world.netbox.device.bind(world.netbox);
  world.netbox.device = async (id) => (id === 8 ? null : device(id));
  await walk();
  world.netbox.devices = without;
  await walk();
  expect(await hardware()).toEqual([7, 8]);
  await walk();
  expect(await hardware()).toEqual([7]);
});
