import { afterAll, beforeAll, expect, it } from "vitest";
import { AdminWorld } from "../functions/admin-world.ts";

let world: AdminWorld;
beforeAll(async () => {
  world = await AdminWorld.start({ beginPerMinute: 10 });
});
afterAll(() => world.close());

it.each(["evidence", "confirm"])("a stranger without a session gets only so many %ss parsed a minute", async (step) => {
  const statuses = new Map<number, number>();
  const limit = 2 * world.deps.limits.beginPerMinute;
  for (let i = 0; i < limit + 5; i++) {
    const { status } = await world.ask("device", "POST", `/attest/v1/${step}`, { body: "{}" });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(Object.fromEntries(statuses)).toEqual({ 400: limit, 429: 5 });
});
