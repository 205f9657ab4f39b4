import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { numbered } from "../../shared/engine/world.ts";
import { AdminWorld } from "../admin-world.ts";

let world: AdminWorld;
beforeEach(async () => {
  world = await AdminWorld.start();
});
afterEach(() => world.close());

interface Shown {
  readonly name: string;
  readonly again: boolean;
  readonly steps: readonly { readonly do: string; readonly text: string }[];
  readonly conditions: readonly { readonly type: string }[];
}
const texts = (plan: Shown) => plan.steps.map((s) => s.text);

async function quietly(path: string): Promise<unknown> {
  const outside = async () => JSON.stringify([await world.everything(), await world.deps.world.bootPlane.objects()]);
  // A pass before may have left a copy of the inventory that is just about to end by itself.
  const { inventoryCopyMs } = world.deps.world.settings.durations;
  if ((await world.deps.world.store.get("inventory")) !== null) await sleep(inventoryCopyMs + 1);
  const before = await outside();
  const got = await world.ask("admin", "GET", path);
  expect(got.status).toBe(200);
  expect(await outside()).toBe(before);
  return got.json();
}
const reconcile = () => world.ask("admin", "POST", "/reconcile", { body: "{}" });

describe("GET /plan", () => {
  it("says what the first pass of all would do, and does not even begin fleetd's memory", async () => {
    const { devices } = (await quietly("/plan")) as { devices: Shown[] };
    expect(devices.map((d) => d.name)).toEqual(["w1"]);
    expect(await world.deps.world.records.fleet()).toBeNull();
    expect(texts(devices[0] as Shown)).toContain("writes Hardware f7: the machine may not netboot");
  });

  it("has the devices with something to do alone", async () => {
    world.deps.world.netbox.declare(numbered(11));
    for (let n = 0; n < 3; n++) await reconcile();
    expect(await quietly("/plan")).toEqual({ devices: [] });
    world.deps.world.netbox.owner(11, { desiredAction: "wipe" });
    const { devices } = (await quietly("/plan")) as { devices: Shown[] };
    expect(devices.map((d) => d.name)).toEqual([numbered(11).name]);
  });
});

describe("GET /plan/{name}", () => {
  it("leads through a start, look by look, with disk and objects by name", async () => {
    for (let n = 0; n < 3; n++) await reconcile();
    world.deps.world.netbox.owner(7, { desiredAction: "wipe" });
    const slot = (await quietly("/plan/w1")) as Shown;
    expect(slot.again).toBe(true);
    expect(texts(slot).join("\n")).toMatch(/takes a slot for disk runs, for f7-wipe-/);
    await reconcile();
    const rest = (await quietly("/plan/w1")) as Shown;
    expect(rest.again).toBe(false);
    expect(rest.conditions).toEqual([]);
  });

  it("what waits is shown by its condition, and nobody's plan is not found", async () => {
    for (let n = 0; n < 3; n++) await reconcile();
    world.deps.world.netbox.owner(7, { desiredAction: "wipe", protected: true });
    const plan = (await quietly("/plan/w1")) as Shown;
    expect(plan.conditions).toMatchObject([{ type: "RequestWaits", reason: "protected", who: "owner" }]);
    const nobody = await world.ask("admin", "GET", "/plan/w9");
    expect([nobody.status, nobody.json().code]).toEqual([404, "not-found"]);
  });
});
