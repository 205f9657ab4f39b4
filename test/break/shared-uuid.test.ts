import { expect, it } from "vitest";
import { bindingsOf } from "../../shared/engine/inventory.ts";
import { passForDevice } from "../../shared/engine/pass.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import { approvedDigests } from "../../shared/fleet/binding.ts";
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

it("two boards that changed rows are free to attest once an owner accepted both, and not before", async () => {
  const { world, record, pass } = await timedWorld();
  const uuids: Record<number, string> = { 7: UUID, 8: "4c4c4544-0034-4410-8043-b7c04f335132" };
  for (const id of [7, 8]) {
    world.netbox.declare(numbered(id, { status: "active" }));
    const passedEks = [...approvedDigests(numbered(id).approvedEks)];
    await updateRecord(world, numbered(id), (r) => ({ ...r, uuid: uuids[id] ?? null, passedEks }));
  }
  const bindings = async () => {
    const devices = await world.netbox.devices();
    return bindingsOf(devices, new Map([[7, await record(7)] as const, [8, await record(8)] as const]));
  };
  pass(1000);
  world.netbox.owner(7, { approvedEks: numbered(8).approvedEks });
  world.netbox.owner(8, { approvedEks: numbered(7).approvedEks });
  for (const id of [7, 8]) await passForDevice(world, id, "pass");
  expect([...(await bindings()).values()].map((one) => one.uuid).sort()).toEqual(Object.values(uuids).sort());
  for (const id of [7, 8]) world.netbox.owner(id, { status: "planned" });
  for (const id of [7, 8]) await passForDevice(world, id, "pass");
  expect((await bindings()).size).toBe(0);
});
