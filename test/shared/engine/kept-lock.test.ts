import { expect, it } from "vitest";
import { pass, passForDevice } from "../../../shared/engine/pass.ts";
import { PortError } from "../../../shared/ports/error.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { timedWorld } from "./world.ts";

const SECOND = 1000;

// Seen on a real NetBox under load: an owner's edits made each write a conflict, the looks went on for longer than a lock
// lasts, and a webhook's pass told the same lines beside the timer's.
it.each([
  ["a pass", pass],
  ["a webhook's pass", (world: Parameters<typeof pass>[0]) => passForDevice(world, 7, "pass")],
])("%s keeps its device's lock for as long as its looks take", async (_title, work) => {
  const t = await timedWorld();
  t.world.netbox.declare(aDevice());
  for (let n = 0; n < 6; n++) await pass(t.world);
  t.pass(SECOND);
  t.world.netbox.owner(7, { desiredAction: "attest" });
  const others: boolean[] = [];
  t.world.netbox.patchDevice = async () => {
    t.pass(9 * SECOND);
    others.push(await t.world.store.lock("device:7", "another", SECOND));
    throw new PortError("conflict", "netbox", "device 7: changed since it was read");
  };
  await work(t.world);
  expect(others.length * 9 * SECOND).toBeGreaterThan(2 * t.world.settings.durations.passLockMs);
  expect(others).not.toContain(true);
  expect(await t.world.store.lock("device:7", "another", SECOND)).toBe(true);
});

it("whoever lost its lock looks no further", async () => {
  const t = await timedWorld();
  t.world.netbox.declare(aDevice());
  for (let n = 0; n < 6; n++) await pass(t.world);
  t.pass(SECOND);
  t.world.netbox.owner(7, { desiredAction: "attest" });
  let tries = 0;
  t.world.netbox.patchDevice = async () => {
    tries += 1;
    // A call that hangs longer than the lock lasts.
    t.pass(t.world.settings.durations.passLockMs + SECOND);
    expect(await t.world.store.lock("device:7", "another", 60 * SECOND)).toBe(true);
    throw new PortError("conflict", "netbox", "device 7: changed since it was read");
  };
  await passForDevice(t.world, 7, "pass");
  expect(tries).toBe(1);
});
