import { afterEach, beforeEach, expect, it } from "vitest";
import { configApp } from "../../../functions/config/app.ts";
import { CODE, ConfigWorld, UUID } from "./world.ts";

// The way without node:http's response, as on workerd (ADR 0004): the body's stream alone tells how it ended.
let world: ConfigWorld;
beforeEach(async () => {
  world = await ConfigWorld.start(null);
});
afterEach(() => world.close());
const read = () => configApp(world.deps).request(`/talos/config?uuid=${UUID}&code=${CODE}`);
const state = async () => (await world.record()).config?.state;

it("a body read to its end is consumed", async () => {
  const body = await world.mint();
  const response = await read();
  expect(response.headers.get("content-length")).toBe("2000");
  expect(await state()).toBe("serving");
  expect(await response.text()).toBe(body);
  expect(await state()).toBe("served");
  expect((await read()).status).toBe(410);
});

it("a cancelled body is released to the same peer, three times", async () => {
  await world.mint();
  for (const breaks of [1, 2, 3]) {
    const response = await read();
    await response.body?.cancel();
    await expect.poll(state).toBe("unread");
    expect((await world.record()).config?.breaks).toBe(breaks);
  }
  expect((await read()).status).toBe(409);
});
