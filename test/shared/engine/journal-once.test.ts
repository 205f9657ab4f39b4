import { expect, it } from "vitest";
import { pass } from "../../../shared/engine/pass.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { timedWorld } from "./world.ts";

it("a line whose record moved between its POST and the write that it was sent is not said again in the same pass", async () => {
  const t = await timedWorld();
  const { world } = t;
  world.netbox.declare({ ...aDevice(), status: "active" });
  await pass(world);
  t.pass(1000);
  world.netbox.owner(7, { status: "decommissioning" });
  const add = world.netbox.addJournal.bind(world.netbox);
  let moved = false;
  world.netbox.addJournal = async (...args) => {
    await add(...args);
    const stored = await world.records.get(7);
    if (moved || stored === null) return;
    moved = true;
    await world.records.put({ ...stored, name: "w1", uuid: null, node: null }, stored.resourceVersion);
  };
  for (let n = 0; n < 3; n++) {
    t.pass(30_000);
    await pass(world);
  }
  const said = world.netbox.journal.map((line) => line.text);
  expect(moved).toBe(true);
  expect(said.length).toBeGreaterThan(2);
  expect(said).toHaveLength(new Set(said).size);
});
