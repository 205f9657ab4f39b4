import { expect, it } from "vitest";
import { readReport } from "../../shared/attest/report.ts";
import { fleetView } from "../../shared/engine/fleet-view.ts";
import { pass } from "../../shared/engine/pass.ts";
import { numbered, timedWorld } from "../shared/engine/world.ts";

it("one record that is no record hides itself alone from look-ups, and is never overwritten", async () => {
  const { world } = await timedWorld();
  for (const id of [7, 8]) world.netbox.declare(numbered(id));
  await world.records.put({ deviceId: 7, name: "w7", uuid: null, node: null, open: false, text: "{" }, null);
  await pass(world);
  const view = await fleetView(world);
  expect(view.map((v) => [v.device.id, v.record.conditions.length > 0])).toEqual([
    [7, false],
    [8, true],
  ]);
  expect((await world.records.get(7))?.text).toBe("{");
});

it("a fleet memory that is none stops every start with a word, not with a parser's", async () => {
  const { world } = await timedWorld();
  const stored = await world.records.fleet();
  await world.records.putFleet("{", stored?.resourceVersion ?? null);
  await expect(pass(world)).rejects.toThrow("fleetd-fleet is no record of this version");
});

it.each(["ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "00:00:00:00:00:00"])("a report of MAC %s is none", (mac) => {
  const report = {
    mac,
    lldp: null,
    hookosVersion: "1",
    commandLine: "",
    clock: "2026-11-29T12:00:00Z",
    uuid: "4c4c4544-0034-4410-8043-b7c04f335131",
  };
  const bytes = (r: object) => new TextEncoder().encode(JSON.stringify(r));
  expect(() => readReport(bytes(report))).toThrow();
  expect(readReport(bytes({ ...report, mac: "52:54:00:00:00:01" })).mac).toBe("52:54:00:00:00:01");
});
