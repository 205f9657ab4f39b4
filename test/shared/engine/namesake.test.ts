import { expect, it } from "vitest";
import { pass } from "../../../shared/engine/pass.ts";
import { numbered, timedWorld } from "./world.ts";

const MINUTE = 60_000;

it.each([
  ["another device has its name: that one's Node stays", "w8", true],
  ["nobody else has it: the Node of its name goes", "w9", false],
])("a device that was never installed is set offline by hand; %s", async (_title, othersName, stays) => {
  const t = await timedWorld();
  const { world } = t;
  world.netbox.declare(numbered(8));
  world.netbox.declare(numbered(9, { name: othersName }));
  await pass(world);
  const createdAtMs = world.clock.nowMs();
  world.cluster.nodeList = [
    { name: "w8", uid: "node-1", unschedulable: false, taints: [], annotations: {}, createdAtMs },
  ];
  for (const status of ["decommissioning", "offline"]) {
    t.pass(MINUTE);
    world.netbox.owner(8, { status });
    for (let n = 0; n < 3; n++) await pass(world);
  }
  expect((await world.cluster.nodes(["w8"])).map(({ unschedulable }) => unschedulable)).toEqual(stays ? [false] : []);
  expect((await t.record(8)).retire?.offlineAtMs).not.toBeNull();
});
