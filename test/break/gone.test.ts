import { expect, it } from "vitest";
import { pass } from "../../shared/engine/pass.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { numbered, type Timed, timedWorld } from "../shared/engine/world.ts";

async function waiting(count: number): Promise<Timed> {
  const t = await timedWorld({ maxDiskRuns: 20 });
  for (let id = 7; id < 7 + count; id++) {
    t.world.netbox.declare(numbered(id));
    t.world.netbox.owner(id, { desiredAction: "wipe" });
  }
  await pass(t.world);
  return t;
}

/** What NetBox shows to fleetd from now on. */
function shows(t: Timed, devices: readonly Device[]): void {
  Object.assign(t.world.netbox, {
    devices: async () => [...devices],
    device: async (id: number) => devices.find((d) => d.id === id) ?? null,
  });
}

async function walk(t: Timed) {
  t.pass(t.world.settings.durations.fullWalkMs);
  await pass(t.world);
  return t.world.bootPlane.objects();
}

it("a device that is gone from two walks loses its waiting Workflow: the next machine of that MAC would run it", async () => {
  const t = await waiting(1);
  const row = t.world.netbox.row(7);
  expect((await t.record()).run?.phase).toBe("waiting");
  shows(t, []);
  expect((await walk(t)).workflows).toHaveLength(1);
  const after = await walk(t);
  expect([after.workflows, after.hardware, after.machines]).toEqual([[], [], []]);
  expect((await t.record()).run?.result).toBe("withdrawn");
  shows(t, [row]);
  await walk(t);
  expect(await t.record()).toMatchObject({ absentSinceMs: null, run: { result: "withdrawn" } });
  expect((await t.world.bootPlane.objects()).workflows).toEqual([]);
});

it("one that comes back in between keeps its run", async () => {
  const t = await waiting(1);
  const row = t.world.netbox.row(7);
  shows(t, []);
  await walk(t);
  shows(t, [row]);
  await walk(t);
  shows(t, []);
  expect((await walk(t)).workflows).toHaveLength(1);
});

it("six that vanish at once are rather a wrong filter: nothing is deleted", async () => {
  const t = await waiting(6);
  shows(t, []);
  await walk(t);
  await walk(t);
  expect((await walk(t)).workflows).toHaveLength(6);
});

it("a wipe that has begun goes on to its end; then all goes", async () => {
  const t = await waiting(1);
  const [workflow] = (await t.world.bootPlane.objects()).workflows;
  if (workflow === undefined) throw new Error("no Workflow");
  const actions = workflow.actions.map((a, i) => ({ ...a, state: i === 0 ? ("RUNNING" as const) : a.state }));
  t.world.bootPlane.change(workflow.name, { state: "RUNNING", actions });
  shows(t, []);
  await walk(t);
  expect((await walk(t)).workflows).toHaveLength(1);
  t.world.bootPlane.change(workflow.name, { state: "FAILED" });
  const after = await walk(t);
  expect([after.workflows, after.hardware]).toEqual([[], []]);
});
