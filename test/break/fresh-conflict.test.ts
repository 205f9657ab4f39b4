import { expect, it } from "vitest";
import { passForDevice } from "../../shared/engine/pass.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import { numbered, timedWorld } from "../shared/engine/world.ts";

const UUID = "4c4c4544-0034-4410-8043-b7c04f335131";

it.each([
  ["that has the disk's serial now", { installDiskSerial: "DISK2" }],
  ["whose record has the same UUID, and which is back from offline", { status: "planned" }],
])(
  "right before a run the fleet is read afresh, also for a machine that was another device before: one %s",
  async (_what, change) => {
    const t = await timedWorld();
    t.world.netbox.declare(numbered(2, { status: "active" }));
    t.world.netbox.declare(numbered(3, { status: "offline" }));
    for (const id of [2, 3]) await updateRecord(t.world, numbered(id), (r) => ({ ...r, uuid: UUID }));
    t.pass(1000);
    t.world.netbox.owner(2, { desiredAction: "wipe" });
    await t.world.store.put("inventory", JSON.stringify(await t.world.netbox.devices()), 30_000);
    t.pass(11_000);
    t.world.netbox.owner(3, { status: "planned", ...change });
    await passForDevice(t.world, 2, "pass");
    expect((await t.record(2)).run).toBeNull();
    expect((await t.record(2)).conditions.map((c) => c.reason)).toContain("inventory-conflict");
  },
);
