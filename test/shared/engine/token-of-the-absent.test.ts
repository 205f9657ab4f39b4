import { expect, it } from "vitest";
import { pass } from "../../../shared/engine/pass.ts";
import { updateRecord } from "../../../shared/engine/records.ts";
import { numbered, timedWorld } from "./world.ts";

it("the token of a device that NetBox has no more goes with its minute, not with the second walk", async () => {
  const t = await timedWorld();
  const { world } = t;
  world.netbox.declare(numbered(8));
  await pass(world);
  const csr = { name: "c", spkiSha256: "k", approvedAtMs: world.clock.nowMs() };
  await updateRecord(world, numbered(7), (r) => ({
    ...r,
    token: { id: "abcdef", expiresAtMs: null, csr, contended: false, deletedAtMs: null },
  }));
  await world.cluster.createToken({ id: "abcdef", deviceId: 7, node: "w7", expiresAtMs: 0 }, "0123456789abcdef");
  t.pass(30_000);
  await pass(world);
  expect([...world.cluster.tokens.keys()]).toEqual(["abcdef"]);
  t.pass(31_000);
  await pass(world);
  expect([...world.cluster.tokens.keys()]).toEqual([]);
  expect((await t.record()).token?.deletedAtMs).not.toBeNull();
});
