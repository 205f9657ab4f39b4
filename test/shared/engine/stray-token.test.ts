import { expect, it } from "vitest";
import { pass, passForDevice } from "../../../shared/engine/pass.ts";
import { numbered, timedWorld } from "./world.ts";

/** Two devices of which neither record names a token, and one token each in the cluster. */
async function strayed() {
  const { world } = await timedWorld();
  for (const deviceId of [7, 8]) {
    world.netbox.declare(numbered(deviceId));
    await world.cluster.createToken(
      { id: `abcde${deviceId}`, deviceId, node: `w${deviceId}`, expiresAtMs: world.clock.nowMs() + 3_600_000 },
      "0123456789abcdef",
    );
  }
  return world;
}

it("a pass deletes the bootstrap tokens that no record names", async () => {
  const world = await strayed();
  await pass(world);
  expect([...world.cluster.tokens.keys()]).toEqual([]);
});

it("the pass for one device deletes that device's alone", async () => {
  const world = await strayed();
  await passForDevice(world, 8, "pass");
  expect([...world.cluster.tokens.keys()]).toEqual(["abcde7"]);
});
