import { beforeEach, expect, it } from "vitest";
import { pass, passForDevice } from "../../shared/engine/pass.ts";
import { previewDevice } from "../../shared/engine/preview.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import type { NodeView } from "../../shared/fleet/cluster.ts";
import type { IdentityRecord } from "../../shared/fleet/record.ts";
import { numbered, type Timed, timedWorld } from "../shared/engine/world.ts";

const certificate = { serialNumber: "1", spkiSha256: "a", notAfterMs: Date.UTC(2027, 0, 1) };
const identity = (name: string): IdentityRecord => ({
  ldevid: certificate,
  lak: certificate,
  subject: `CN=${name}.0123456789abcdef,SERIALNUMBER=SN8`,
  issuedAtMs: Date.UTC(2026, 9, 1),
});
const NODE: NodeView = {
  name: "w7",
  uid: "u8",
  unschedulable: false,
  taints: [],
  annotations: {},
  createdAtMs: Date.UTC(2026, 9, 1),
};

let t: Timed;

const renamed = numbered(8, { status: "active", name: "w9" });
const installedAs = (name: string) => updateRecord(t.world, renamed, (r) => ({ ...r, identity: identity(name) }));
const reasons = async () => (await t.record()).conditions.map((c) => c.reason);

/** Device 8 was installed as w7 and is called w9 now; device 7 took the name, and was never installed. */
beforeEach(async () => {
  t = await timedWorld();
  t.world.netbox.declare(renamed);
  t.world.cluster.nodeList = [NODE];
  await installedAs("w7");
  t.world.netbox.declare(numbered(7));
});

it("no device is installed under the name of another's Node, until that one was installed anew", async () => {
  await pass(t.world);
  expect(await reasons()).toContain("inventory-conflict");
  expect((await previewDevice(t.world, "w7"))?.record.conditions.map((c) => c.reason)).toContain("inventory-conflict");
  t.pass(1000);
  await passForDevice(t.world, 7, "confirm");
  expect((await t.record()).run).toBeNull();
  await installedAs("w9");
  t.pass(1000);
  await passForDevice(t.world, 7, "confirm");
  expect((await t.record()).run?.phase).toBe("waiting");
});

it("the device whose Node it is gets a run all the same: that is what frees the name", async () => {
  t.world.netbox.owner(8, { status: "planned" });
  await passForDevice(t.world, 8, "confirm");
  expect((await t.record(8)).run?.phase).toBe("waiting");
});

it("what was never installed and is set offline by hand leaves the Node alone", async () => {
  t.world.netbox.owner(7, { status: "decommissioning" });
  await pass(t.world);
  t.world.netbox.owner(7, { status: "offline" });
  for (let at = 0; at < 3; at++) {
    t.pass(1000);
    await passForDevice(t.world, 7, "pass");
  }
  expect((await t.record()).retire?.offlineAtMs).not.toBeNull();
  expect(t.world.cluster.nodeList).toEqual([NODE]);
  expect((await t.record()).journal.map((line) => line.code)).toContain("node-of-another");
});
