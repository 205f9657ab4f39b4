import { expect, it } from "vitest";
import { acceptHeldRequest } from "../../shared/engine/accept.ts";
import { passForDevice } from "../../shared/engine/pass.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import { FakeNetBox } from "../fakes/netbox.ts";
import { numbered, timedWorld } from "../shared/engine/world.ts";

const MINUTE = 60_000;

it.each([-10, 0, 10])(
  "what an owner asks after an accepted request was carried out is fresh, with NetBox's clock %d minutes off",
  async (minutes) => {
    const t = await timedWorld();
    const netbox = new FakeNetBox({ nowMs: () => t.world.clock.nowMs() + minutes * MINUTE }, "fleetd");
    Object.assign(t.world, { netbox });
    // The memory of the fleet is older than anything here.
    t.pass(60 * MINUTE);
    netbox.declare(numbered(7, { status: "active", desiredAction: "attest" }));
    const { changes } = netbox;
    netbox.changes = async () => [];
    await passForDevice(t.world, 7, "pass");
    expect((await t.record()).conditions.map((c) => c.type)).toContain("RequestHeld");
    expect(await acceptHeldRequest(t.world, netbox.row(7), "attest", "alice")).toMatchObject({ ok: true });
    await passForDevice(t.world, 7, "pass");
    netbox.changes = changes.bind(netbox);
    const first = (await t.record()).run;
    expect(first).toMatchObject({ kind: "attest", phase: "waiting" });
    t.world.bootPlane.change(first?.name ?? "", { state: "FAILED" });
    t.pass(MINUTE);
    await passForDevice(t.world, 7, "pass");
    expect(netbox.row(7).desiredAction).toBeNull();
    t.pass(MINUTE);
    netbox.owner(7, { desiredAction: "attest" });
    await passForDevice(t.world, 7, "pass");
    const owners = (await netbox.changes(7)).find((c) => c.user === "owner" && c.after?.desiredAction === "attest");
    expect((await t.record()).run).toMatchObject({ phase: "waiting", request: { id: owners?.requestId } });
  },
);

it("a word for a row that is older than the last request is a word all the same", async () => {
  const t = await timedWorld();
  t.world.netbox.declare(numbered(7, { status: "active", desiredAction: "attest" }));
  t.world.netbox.changes = async () => [];
  const last = { id: "later", atMs: t.world.clock.nowMs() + 60 * MINUTE };
  await updateRecord(t.world, numbered(7), (r) => ({ ...r, lastRequests: { install: null, attest: last } }));
  t.pass(90 * MINUTE);
  expect(await acceptHeldRequest(t.world, t.world.netbox.row(7), "attest", "alice")).toMatchObject({ ok: true });
  await passForDevice(t.world, 7, "pass");
  expect((await t.record()).run).toMatchObject({ kind: "attest", phase: "waiting" });
});
