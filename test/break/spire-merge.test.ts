import { expect, it } from "vitest";
import type { Device } from "../../shared/fleet/device.ts";
import { type Member, mergeSpireNodes, spireNodes } from "../../shared/fleet/manifests/spire-nodes.ts";
import { type DeviceRecord, newRecord } from "../../shared/fleet/record.ts";
import { SETTINGS } from "../scenarios/fixtures.ts";
import { numbered } from "../shared/engine/world.ts";
import { installed, NOW, verdict } from "../shared/fleet/parts.ts";

const certificate = { serialNumber: "01", spkiSha256: "k", notAfterMs: NOW + 1 };

/** An active node of the fleet, listed. */
function member(id: number, device: Partial<Device> = {}, record: Partial<DeviceRecord> = {}): Member {
  const row = numbered(id, { status: "active" });
  const subject = `SERIALNUMBER=${row.serial},CN=${row.name}.0123456789abcde${id}`;
  return {
    device: { ...row, ...device },
    record: {
      ...newRecord(id, row.name),
      installed,
      identity: { ldevid: certificate, lak: certificate, subject, issuedAtMs: 1 },
      verdict: verdict({ result: "pass", atMs: NOW, codes: [] }),
      passedEks: [`sha256:${id.toString(16).padStart(64, "0")}`],
      ...record,
    },
  };
}

const text = (...members: Member[]) => JSON.stringify({ nodes: spireNodes(members, SETTINGS, NOW) });
const names = (list: string, ...looked: Member[]) => mergeSpireNodes(list, looked, SETTINGS, NOW)?.map((n) => n.name);
const planned = (id: number, device: Partial<Device>) => ({
  device: numbered(id, device),
  record: newRecord(id, `w${id}`),
});

it("another device that is given a listed node's serial or name by mistake takes nothing from the list, as in a walk", () => {
  const listed = [member(1), member(2)];
  for (const mistake of [{ serial: "SN1" }, { name: "w1" }, { serial: "sn1" }]) {
    const other = planned(3, mistake);
    expect(spireNodes([...listed, other], SETTINGS, NOW).map((n) => n.name)).toEqual(["w1", "w2"]);
    expect(names(text(...listed), other)).toEqual(["w1", "w2"]);
    const running = member(2, mistake);
    expect(names(text(...listed), running)).toContain("w1");
  }
});

it.each([
  ["quarantined", member(1, {}, { quarantine: { by: "renewal", sinceMs: 1, node: "w1" } })],
  ["failing", member(1, {}, { verdict: verdict() })],
  ["planned again", member(1, { status: "planned" })],
  ["of another serial", member(1, { serial: "SN9" })],
  ["of another serial and renamed", member(1, { serial: "SN9", name: "w9" })],
  ["without its record", { ...member(1), record: newRecord(1, "w1") }],
  ["installed anew with another TPM, not passed", member(1, {}, { identity: null, passedEks: null })],
])("a listed node that is %s leaves it", (_what, looked) => {
  expect(names(text(member(1), member(2)), looked)).toEqual(["w2"]);
});

it("two that change names stay what their certificates say until a walk, and neither gets the other's entry", () => {
  const swapped = [member(1, { name: "w2" }), member(2, { name: "w1" })];
  const merged = mergeSpireNodes(text(member(1), member(2)), swapped, SETTINGS, NOW);
  expect(merged?.map((n) => [n.name, n.serial])).toEqual([
    ["w1", "SN1"],
    ["w2", "SN2"],
  ]);
});
