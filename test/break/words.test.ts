import { expect, it } from "vitest";
import { acceptVanished } from "../../shared/engine/accept.ts";
import { pass, passForDevice } from "../../shared/engine/pass.ts";
import { workflow, workflowName } from "../../shared/fleet/manifests/workflow.ts";
import { numbered, type Timed, timedWorld } from "../shared/engine/world.ts";
import { run } from "../shared/fleet/parts.ts";

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

async function walk(t: Timed): Promise<void> {
  t.pass(t.world.settings.durations.fullWalkMs);
  await pass(t.world);
}

it("a second word for devices that vanished leaves the first one standing: what is closed is not held back again", async () => {
  const t = await timedWorld();
  for (const id of ids(1, 20)) t.world.netbox.declare(numbered(id));
  await pass(t.world);
  const rows = await t.world.netbox.devices();
  const show = (from: number) =>
    Object.assign(t.world.netbox, {
      devices: async () => rows.filter((d) => d.id >= from),
      device: async (id: number) => rows.find((d) => d.id === id && d.id >= from) ?? null,
    });
  for (const from of [8, 15]) {
    show(from);
    for (let n = 0; n < 3; n++) await walk(t);
    expect(await acceptVanished(t.world, "alice")).toMatchObject({ ok: true, isNew: true });
    for (let n = 0; n < 2; n++) await walk(t);
  }
  expect((await t.world.bootPlane.objects()).hardware.map((h) => h.deviceId)).toEqual(ids(15, 20));
  for (const id of ids(1, 14)) expect((await t.record(id)).conditions).toEqual([]);
  // One more is one, and no part of a mass.
  show(16);
  for (let n = 0; n < 2; n++) await walk(t);
  expect((await t.world.bootPlane.objects()).hardware.map((h) => h.deviceId)).toEqual(ids(16, 20));
});

it("a run that was adopted takes no word of its owner back that was not read yet", async () => {
  const t = await timedWorld();
  t.world.netbox.declare(numbered(7));
  t.pass(60_000);
  t.world.netbox.owner(7, { desiredAction: "provision" });
  const [asked] = await t.world.netbox.changes(7);
  const request = { id: asked?.requestId ?? "", atMs: asked?.atMs ?? 0 };
  const name = workflowName(7, "provision", request.id, 1);
  const mac = "52:54:00:00:01:07";
  const lost = run({ name, request, mac, serial: "SN7", disk: { device: "nvme0n1", serial: "DISK7" } });
  await t.world.bootPlane.create(workflow(numbered(7), lost, t.world.settings));
  const [made] = (await t.world.bootPlane.objects([7])).workflows;
  await t.world.bootPlane.enableWorkflow(name, made?.uid ?? "", made?.resourceVersion ?? "");
  t.pass(60_000);
  t.world.netbox.owner(7, { status: "active", desiredAction: null });
  t.pass(60_000);
  await passForDevice(t.world, 7, "pass");
  expect((await t.record()).run).toMatchObject({ name, phase: "waiting" });
  expect(t.world.netbox.row(7).status).toBe("active");
});
