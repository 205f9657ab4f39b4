import { expect, it } from "vitest";
import { pass } from "../../../shared/engine/pass.ts";
import { loadFleet, updateFleet, updateRecord } from "../../../shared/engine/records.ts";
import { numbered, timedWorld } from "./world.ts";

const RUN = "f8-wipe-000000010000-1";

it("the slot of a run that goes on stays taken though a walk came without its device (simulation, seed 100083)", async () => {
  const t = await timedWorld();
  const { world } = t;
  world.netbox.declare(numbered(8));
  await pass(world);
  const slot = { deviceId: 8, run: RUN, sinceMs: world.clock.nowMs() };
  await updateFleet(world, (fleet) => ({ ...fleet, slots: [slot, { ...slot, deviceId: 9, run: "f9-wipe-1" }] }));
  const phase = (ended: boolean) =>
    updateRecord(world, numbered(8), (r) => ({
      ...r,
      run: {
        kind: "wipe",
        request: { id: "00000001-0000-4000-8000-000000000000", atMs: 1 },
        attempt: 1,
        name: RUN,
        deviceName: "w8",
        phase: ended ? "ended" : "running",
        class: null,
        disk: { device: "nvme0n1", serial: "D8" },
        serial: "SN8",
        uuid: null,
        eks: [],
        mac: "52:54:00:00:00:08",
        bootMode: false,
        startedAtMs: 1,
        enabledAtMs: world.clock.nowMs(),
        begunAtMs: world.clock.nowMs(),
        diskBegun: true,
        timeoutMs: 86_400_000,
        actionsChecked: true,
        terminal: ended ? { state: "FAILED", atMs: 2, action: null, detail: "" } : null,
        result: ended ? "failed" : null,
        verdictAtMs: null,
      },
    }));
  await phase(false);
  Object.assign(world.netbox, { devices: async () => [] });
  const walk = async () => {
    t.pass(world.settings.durations.fullWalkMs + 1);
    await pass(world);
    return (await loadFleet(world)).fleet.slots.map((s) => s.deviceId);
  };
  // The other slot has no record that names it.
  expect(await walk()).toEqual([8]);
  await phase(true);
  expect(await walk()).toEqual([]);
});

it("a slot that was taken while a walk went on is no orphan of that walk (simulation, seed 800541)", async () => {
  const t = await timedWorld();
  const { world } = t;
  world.netbox.declare(numbered(8));
  await pass(world);
  const write = world.files.writeSpireNodes.bind(world.files);
  world.files.writeSpireNodes = async (text) => {
    // Another pass meanwhile: device 9 is shown again, and its run begins.
    const slot = { deviceId: 9, run: "f9-retire-000000010000-1", sinceMs: world.clock.nowMs() };
    await updateFleet(world, (fleet) => ({ ...fleet, slots: [slot] }));
    t.pass(world.settings.durations.slotOrphanMs + 1);
    await write(text);
  };
  t.pass(world.settings.durations.fullWalkMs + 1);
  await pass(world);
  expect((await loadFleet(world)).fleet.slots.map((s) => s.deviceId)).toEqual([9]);
});
