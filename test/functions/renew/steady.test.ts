import { expect, test } from "vitest";
import { pass } from "../../../shared/engine/pass.ts";
import { boxed } from "./box.ts";
import { ID } from "./world.ts";

const box = boxed();

test("after a renewal NetBox is written once; the passes after it have no step", async () => {
  const { node, world } = box();
  await node.renewed();
  for (let n = 0; n < 3; n++) await pass(world.deps.world);
  const { lastUpdated, shown } = world.deps.world.netbox.row(ID);
  expect(shown.attestedAt).toMatch(/\.\d{6}Z$/);
  for (let n = 0; n < 3; n++)
    expect(await pass(world.deps.world)).toEqual({ devices: 1, steps: 0, failed: 0, skipped: false });
  expect(world.deps.world.netbox.row(ID).lastUpdated).toBe(lastUpdated);
});
