import { expect, it } from "vitest";
import { passForDevice } from "../../shared/engine/pass.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import { numbered, timedWorld } from "../shared/engine/world.ts";

const UUID = "4c4c4544-0034-4410-8043-b7c04f335131";

it("two machines that both attested with one UUID install neither: at admission too, not at the full pass alone", async () => {
  const { world, record } = await timedWorld();
  for (const id of [7, 8]) {
    world.netbox.declare(numbered(id));
    await updateRecord(world, numbered(id), (r) => ({ ...r, uuid: UUID }));
  }
  await passForDevice(world, 7, "confirm");
  expect((await record()).run).toBeNull();
  expect((await record()).conditions.map((c) => c.reason)).toContain("inventory-conflict");
  world.netbox.owner(8, { status: "offline" });
  await world.store.put("inventory", JSON.stringify(await world.netbox.devices()), 1000);
  await passForDevice(world, 7, "confirm");
  expect((await record()).run?.phase).toBe("waiting");
});
