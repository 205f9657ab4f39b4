import { expect, it } from "vitest";
import { acceptFailures, acceptVanished } from "../../../shared/engine/accept.ts";
import { pass } from "../../../shared/engine/pass.ts";
import { loadFleet, updateRecord } from "../../../shared/engine/records.ts";
import { rememberVerdict } from "../../../shared/engine/verdicts.ts";
import { freezeClass } from "../../../shared/fleet/class.ts";
import { afterIntake } from "../../../shared/fleet/plan/quarantine.ts";
import { CLASSES } from "../../scenarios/fixtures.ts";
import { numbered, type Timed, timedWorld } from "./world.ts";

const DAY = 86_400_000;
const IDS = [1, 2, 3, 4, 5, 6, 7];

async function fleetOf(ids: readonly number[]): Promise<Timed> {
  const t = await timedWorld();
  for (const id of ids) t.world.netbox.declare(numbered(id));
  await pass(t.world);
  return t;
}
async function walk(t: Timed, afterMs = t.world.settings.durations.fullWalkMs): Promise<void> {
  t.pass(afterMs);
  await pass(t.world);
}

it("devices that vanished at once are kept also after a day and a week: time is no owner's word", async () => {
  const t = await fleetOf(IDS);
  Object.assign(t.world.netbox, { devices: async () => [], device: async () => null });
  for (const afterMs of [DAY / 100, DAY / 100, DAY, DAY, 7 * DAY]) await walk(t, afterMs);
  expect((await t.world.bootPlane.objects()).hardware).toHaveLength(7);
  expect((await t.record(1)).conditions.map((c) => c.type)).toEqual(["MassVanish"]);
  expect(await acceptVanished(t.world, "alice")).toMatchObject({ ok: true, isNew: true, accepted: { by: "alice" } });
  t.pass(1000);
  await pass(t.world);
  expect((await t.world.bootPlane.objects()).hardware).toEqual([]);
  expect((await t.record(1)).conditions).toEqual([]);
});

it("one that comes back is a device as before, and its condition is gone", async () => {
  const t = await fleetOf(IDS);
  const rows = IDS.map((id) => t.world.netbox.row(id));
  const show = (shown: typeof rows) =>
    Object.assign(t.world.netbox, {
      devices: async () => shown,
      device: async (id: number) => shown.find((d) => d.id === id) ?? null,
    });
  show([]);
  await walk(t);
  await walk(t);
  show(rows);
  await walk(t);
  expect((await t.record(1)).conditions.map((c) => c.type)).toEqual(["WaitsForMachine"]);
  expect((await acceptVanished(t.world, "alice")).ok).toBe(false);
});

it("after the word, what those devices did counts no more, and the next five failures quarantine again", async () => {
  const t = await fleetOf(Array.from({ length: 20 }, (_, i) => i + 1));
  const cls = freezeClass("talos-worker", CLASSES, null);
  if (cls === null) throw new Error("no class");
  const fail = async (id: number) => {
    t.pass(1000);
    const device = t.world.netbox.row(id);
    await updateRecord(t.world, device, (r) => ({
      ...r,
      installed: { class: cls, servedAtMs: 1, run: "r", activatedAtMs: 1 },
    }));
    const atMs = t.world.clock.nowMs();
    const verdict = {
      result: "fail" as const,
      by: "intake" as const,
      atMs,
      codes: ["not-hookos"],
      dbxHash: null,
      sbatLevel: null,
    };
    await rememberVerdict(t.world, device, verdict, (r, massFailure) =>
      afterIntake(r, device, verdict, { uuid: "u", massFailure }),
    );
    return (await t.record(id)).quarantine !== null;
  };
  const fails = async (ids: readonly number[]) => {
    const quarantined: boolean[] = [];
    for (const id of ids) quarantined.push(await fail(id));
    return quarantined;
  };
  expect(await fails([1, 2, 3, 4, 5, 6, 7])).toEqual([true, true, true, true, true, false, false]);
  await pass(t.world);
  const word = await acceptFailures(t.world, "alice");
  expect(word).toMatchObject({ ok: true, accepted: { devices: [1, 2, 3, 4, 5, 6, 7] } });
  expect((await loadFleet(t.world)).fleet.failed).toEqual([]);
  t.pass(1000);
  await pass(t.world);
  for (const id of [6, 7]) expect((await t.record(id)).quarantine).toMatchObject({ by: "intake" });
  expect(await fails([7, 11, 12, 13, 14, 15, 16])).toEqual([true, true, true, true, true, true, false]);
});
