import { beforeEach, describe, expect, it } from "vitest";
import { pass, passForDevice } from "../../shared/engine/pass.ts";
import { previewDevice } from "../../shared/engine/preview.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import type { NodeView } from "../../shared/fleet/cluster.ts";
import type { DeviceRecord, IdentityRecord } from "../../shared/fleet/record.ts";
import { newRetire } from "../../shared/fleet/retire-record.ts";
import { numbered, type Timed, timedWorld } from "../shared/engine/world.ts";

const certificate = { serialNumber: "1", spkiSha256: "a", notAfterMs: Date.UTC(2027, 0, 1) };
const identity = (name: string, serial = "SN8", day = 1): IdentityRecord => ({
  ldevid: certificate,
  lak: certificate,
  subject: `CN=${name}.0123456789abcdef,SERIALNUMBER=${serial}`,
  issuedAtMs: Date.UTC(2026, 9, day),
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

it("a label that is not there is written by the walk: then passes for one device see it, too", async () => {
  const stored = await t.world.records.get(8);
  const { text = "", resourceVersion = "" } = stored ?? {};
  // As a fleetd before this label wrote it.
  await t.world.records.put({ deviceId: 8, name: "w9", uuid: null, node: null, open: false, text }, resourceVersion);
  for (let n = 0; n < 3; n++) {
    await pass(t.world);
    t.pass(660_000);
  }
  expect((await t.world.records.byNode("w7")).map((one) => one.deviceId)).toEqual([8]);
});

describe("a device that was set offline by hand, and its successor of the same name", () => {
  const [old, successor] = [numbered(9, { status: "offline", name: "w7" }), numbered(7, { status: "active" })];

  async function replaced(change: Partial<DeviceRecord>): Promise<void> {
    t = await timedWorld();
    t.world.netbox.declare(old);
    t.world.netbox.declare(successor);
    t.world.cluster.nodeList = [NODE];
    await updateRecord(t.world, old, (r) => ({ ...r, identity: identity("w7", "SN9"), ...change }));
    await updateRecord(t.world, successor, (r) => ({ ...r, identity: identity("w7", "SN7", 2) }));
  }

  it("its quarantine does not hold the successor's Node", async () => {
    await replaced({ quarantine: { by: "intake", sinceMs: 1, node: "w7" } });
    for (let n = 0; n < 3; n++) {
      await pass(t.world);
      t.pass(660_000);
    }
    expect(t.world.cluster.nodeList).toEqual([NODE]);
  });

  it("its retirement, renamed, leaves the successor's Node and CSRs", async () => {
    await replaced({ retire: { ...newRetire({ id: "x", atMs: 1 }), erasedAtMs: 2, offAtMs: 3 } });
    t.world.netbox.owner(9, { name: "old9", status: "decommissioning" });
    for (let n = 0; n < 3; n++) {
      await passForDevice(t.world, 9, "pass");
      t.pass(60_000);
    }
    expect(t.world.cluster.nodeList).toEqual([NODE]);
    expect((await t.record(9)).journal.map((line) => line.code)).toContain("node-of-another");
    expect(t.world.netbox.row(9).status).toBe("offline");
  });
});

it("what a device that is gone from NetBox had held is let go by the one that has its Node now", async () => {
  t = await timedWorld();
  const held = { unschedulable: true, annotations: { "fleetd.dev/cordon": "quarantine" } };
  const taints = [{ key: "fleetd.dev/quarantine", value: "", effect: "NoSchedule" }];
  t.world.cluster.nodeList = [{ ...NODE, ...held, taints }];
  const gone = { id: 9, name: "w7" };
  const quarantine = { by: "intake", sinceMs: 1, node: "w7" } as const;
  await updateRecord(t.world, gone, (r) => ({ ...r, identity: identity("w7", "SN7"), quarantine }));
  const again = numbered(7, { status: "active" });
  t.world.netbox.declare(again);
  await updateRecord(t.world, again, (r) => ({ ...r, identity: identity("w7", "SN7", 2) }));
  await pass(t.world);
  expect(t.world.cluster.nodeList).toEqual([NODE]);
});
