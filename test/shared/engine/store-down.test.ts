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
