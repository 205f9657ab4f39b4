import { expect, it } from "vitest";
import { pass, passForDevice } from "../../shared/engine/pass.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import { claimed, served } from "../../shared/fleet/plan/config-access.ts";
import { afterIntake } from "../../shared/fleet/plan/quarantine.ts";
import { unreadConfig } from "../../shared/fleet/record.ts";
import { PortError } from "../../shared/ports/error.ts";
import { numbered, type Timed, timedWorld } from "../shared/engine/world.ts";
import { verdict } from "../shared/fleet/parts.ts";

const MINUTE = 60_000;

/** Installed, its configuration served to the last byte; who served it died before NetBox was set active. */
async function servedAlone(): Promise<Timed> {
  const t = await timedWorld();
  t.world.netbox.declare(numbered(7));
  const nowMs = t.world.clock.nowMs();
  const passed = verdict({ result: "pass", by: "intake", atMs: nowMs, codes: [] });
  const uuid = "11111111-2222-4333-8444-555555555555";
  await updateRecord(t.world, numbered(7), (r) => afterIntake(r, numbered(7), passed, { uuid, massFailure: false }));
  await passForDevice(t.world, 7, "confirm");
  await updateRecord(t.world, numbered(7), (r) => {
    const minted = { ...r, config: unreadConfig("h", r.run?.name ?? "", nowMs) };
    const serving = claimed("h", "n", "10.0.0.7", nowMs)(minted);
    return serving && served("n", nowMs)(serving);
  });
  t.pass(MINUTE);
  return t;
}

it("a change log that was not read is none that was read and is empty: planned set anew stays, whatever write fails", async () => {
  const t = await servedAlone();
  t.world.netbox.owner(7, { status: "active" });
  t.pass(MINUTE);
  t.world.netbox.owner(7, { status: "planned" });
  t.pass(MINUTE);
  const patch = t.world.netbox.patchDevice.bind(t.world.netbox);
  t.world.netbox.patchDevice = async () => Promise.reject(new PortError("unavailable", "netbox", "no answer"));
  expect((await pass(t.world)).failed).toBe(1);
  expect((await t.record()).run?.result).toBe("success");
  t.world.netbox.patchDevice = patch;
  for (let n = 0; n < 3; n++) {
    t.pass(MINUTE / 2);
    await pass(t.world);
  }
  expect(t.world.netbox.row(7).status).toBe("planned");
  expect((await t.record()).conditions.map((c) => c.type)).toContain("WaitsForMachine");
});

it("what is kept of the change log is small, however large a field is: a record too large is never written again", async () => {
  const t = await timedWorld();
  const approvedEks = [...(numbered(7).approvedEks as object[]), { digest: "x".repeat(200_000), source: "" }];
  t.world.netbox.declare(numbered(7, { status: "active", approvedEks }));
  for (const status of ["decommissioning", "active", "planned"]) {
    t.pass(MINUTE);
    t.world.netbox.owner(7, { status });
  }
  for (let n = 0; n < 3; n++) {
    t.pass(MINUTE);
    await passForDevice(t.world, 7, "pass");
  }
  const record = await t.record();
  expect(record.log?.entries.map((e) => e.after?.status)).toEqual(["planned", "active"]);
  expect(JSON.stringify(record).length).toBeLessThan(20_000);
});
