import { expect, it } from "vitest";
import { pass } from "../../shared/engine/pass.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import { aDevice } from "../scenarios/fixtures.ts";
import { timedWorld } from "../shared/engine/world.ts";

it.each([
  ["a token past its minute or expiry is deleted all the same", 61, true],
  ["a token that may still be used stays", 1, false],
] as const)("NetBox down: %s", async (_name, minutes, isGone) => {
  const t = await timedWorld();
  const device = aDevice();
  t.world.netbox.declare(device);
  const expiresAtMs = t.world.clock.nowMs() + 3_600_000;
  await t.world.cluster.createToken({ id: "abc123", deviceId: 7, node: "w1", expiresAtMs }, "0123456789abcdef");
  await updateRecord(t.world, device, (r) => ({
    ...r,
    token: { id: "abc123", expiresAtMs, csr: null, contended: false, deletedAtMs: null },
  }));
  t.world.netbox.owner(7, { desiredAction: "wipe" });
  t.world.netbox.down = true;
  t.pass(minutes * 60_000);
  await expect(pass(t.world)).rejects.toThrow(/netbox|started/i);
  expect(t.world.cluster.tokens.has("abc123")).toBe(!isGone);
  expect((await t.record()).token?.deletedAtMs !== null).toBe(isGone);
  expect((await t.world.bootPlane.objects()).workflows).toEqual([]);
});
