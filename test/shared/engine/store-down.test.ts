import { expect, it } from "vitest";
import { pass, passForDevice } from "../../../shared/engine/pass.ts";
import { updateRecord } from "../../../shared/engine/records.ts";
import { PortError } from "../../../shared/ports/error.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { timedWorld } from "./world.ts";

const down = () => Promise.reject(new PortError("unavailable", "store", "no answer"));

it("without the store a pass goes on: locks only save work (spec/30), and tokens still end", async () => {
  const t = await timedWorld();
  const { world } = t;
  world.netbox.declare({ ...aDevice(), status: "active" });
  await pass(world);
  await world.cluster.createToken({ id: "abc123", deviceId: 7, node: "w1", expiresAtMs: 1 }, "secret");
  await updateRecord(world, aDevice(), (r) => ({
    ...r,
    token: { id: "abc123", expiresAtMs: 1, csr: null, contended: false, deletedAtMs: null },
  }));
  for (const name of ["lock", "unlock", "get", "put", "keepConfig", "dropConfig"] as const) world.store[name] = down;
  t.pass(30_000);
  expect(await pass(world)).toMatchObject({ skipped: false, failed: 0 });
  expect(world.cluster.tokens.size).toBe(0);
  world.netbox.owner(7, { desiredAction: "attest" });
  t.pass(30_000);
  await passForDevice(world, 7, "pass");
  expect((await t.record()).run).toMatchObject({ kind: "attest", phase: "waiting" });
});

it("without the store a payload's deletion stays owed, and its device's run is shown in NetBox (simulation, seed 800540)", async () => {
  const t = await timedWorld();
  const { world } = t;
  world.netbox.declare({ ...aDevice(), status: "active" });
  await pass(world);
  await updateRecord(world, aDevice(), (r) => ({ ...r, due: [{ do: "drop-config" }] }));
  const drop = world.store.dropConfig.bind(world.store);
  world.store.dropConfig = down;
  world.netbox.owner(7, { desiredAction: "attest" });
  for (let n = 0; n < 3; n++) {
    t.pass(30_000);
    await pass(world);
  }
  const record = await t.record();
  expect(record.run).toMatchObject({ kind: "attest", phase: "waiting" });
  expect(record.due).toEqual([{ do: "drop-config" }]);
  const shown = world.netbox.row(7);
  expect(shown.desiredAction).toBeNull();
  expect(shown.shown.fleetRun).toMatchObject({ run: record.run?.name });
  const dropped: number[] = [];
  world.store.dropConfig = (deviceId, consumed) => {
    dropped.push(deviceId);
    return drop(deviceId, consumed);
  };
  t.pass(30_000);
  await pass(world);
  expect(dropped).toEqual([7]);
  expect((await t.record()).due).toEqual([]);
});
