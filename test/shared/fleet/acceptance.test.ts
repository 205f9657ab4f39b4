import { describe, expect, it } from "vitest";
import { needsAcceptance, withAcceptance } from "../../../shared/fleet/acceptance.ts";
import { boundUuid, identityChanged } from "../../../shared/fleet/binding.ts";
import type { ChangedValues, ChangeEntry, Device } from "../../../shared/fleet/device.ts";
import { newRecord } from "../../../shared/fleet/record.ts";
import { aDevice } from "../../scenarios/fixtures.ts";

const UUID = "4c4c4544-0034-4410-8043-b7c04f335131";
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const eks = (...letters: string[]) => letters.map((letter) => ({ digest: digest(letter), source: "SCAN:1" }));
const OLD = eks("a");
const NEW = eks("b");
const record = { ...newRecord(7, "w1"), uuid: UUID, passedEks: [digest("a")] };
const device: Device = { ...aDevice(), approvedEks: NEW };

type Row = [status: string, approvedEks: unknown, user?: string];

/** A change log, newest first, of a row that was so, and so, and so. */
function log(...rows: Row[]): ChangeEntry[] {
  const values = ([status, approvedEks]: Row): ChangedValues => ({ status, desiredAction: null, approvedEks });
  return rows
    .map((row, i): ChangeEntry => {
      const before = rows[i - 1];
      const of = { requestId: `r${i}`, atMs: i, user: row[2] ?? "owner" };
      if (before === undefined) return { ...of, action: "create", before: null, after: values(row) };
      return { ...of, action: "update", before: values(before), after: values(row) };
    })
    .reverse();
}
const accepted = (changes: ChangeEntry[] | null, row = device, of = record) =>
  withAcceptance(row, of, { changes, netboxUser: "fleetd" }).acceptedEks;

describe("an owner's word for other EKs", () => {
  it.each<[string, ...Row[]]>([
    ["planned after the edit", ["active", OLD], ["active", NEW], ["planned", NEW]],
    ["both in one save", ["active", OLD], ["planned", NEW]],
    ["planned anew", ["planned", OLD], ["planned", NEW], ["active", NEW], ["planned", NEW]],
    ["created so", ["planned", NEW]],
    ["another save between", ["active", NEW], ["planned", NEW], ["planned", eks("b")], ["planned", NEW, "fleetd"]],
    ["another source alone", ["planned", NEW], ["planned", [{ digest: digest("b"), source: "SUPPLIER:9" }]]],
  ])("is there: %s", (_, ...rows) => {
    const acceptedEks = accepted(log(...rows));
    expect(acceptedEks).toEqual([digest("b")]);
    const next = { ...record, acceptedEks };
    expect([identityChanged(device, next), boundUuid(device, next)]).toEqual([false, null]);
  });

  it.each<[string, ...Row[]]>([
    ["the edit after planned", ["active", OLD], ["planned", OLD], ["planned", NEW]],
    ["planned by fleetd after the edit", ["active", OLD], ["active", NEW], ["planned", NEW, "fleetd"]],
    ["planned by fleetd before it", ["active", OLD], ["planned", OLD, "fleetd"], ["planned", NEW]],
    ["accepted once, away, and brought back", ["planned", NEW], ["planned", OLD], ["planned", NEW]],
    ["other EKs were accepted", ["planned", eks("c")], ["planned", NEW]],
    ["nobody's that the log still holds"],
  ])("is not there: %s", (_, ...rows) => {
    const acceptedEks = accepted(log(...rows));
    expect(acceptedEks).toBeNull();
    const next = { ...record, acceptedEks };
    expect([identityChanged(device, next), boundUuid(device, next)]).toEqual([true, UUID]);
  });

  it("an update without its values before tells nothing", () => {
    const [entry] = log(["active", OLD], ["planned", NEW]);
    if (entry === undefined) throw new Error("no entry");
    expect(accepted([{ ...entry, before: null }])).toBeNull();
  });

  it("is kept, and none is new, while the log cannot be read", () => {
    expect(accepted(null)).toBeNull();
    const had = { ...record, acceptedEks: [digest("b")] };
    expect(accepted(null, device, had)).toEqual([digest("b")]);
    expect(accepted(null, { ...device, approvedEks: eks("c") }, had)).toBeNull();
  });

  it("ends with the status, and with the pass that it was for", () => {
    const words = log(["active", OLD], ["planned", NEW]);
    const had = { ...record, acceptedEks: [digest("b")] };
    expect(accepted(words, { ...device, status: "active" }, had)).toBeNull();
    expect(accepted(words, device, { ...had, passedEks: [digest("b")] })).toBeNull();
    expect(identityChanged({ ...device, status: "decommissioning" }, had)).toBe(true);
  });

  it("is not asked for where none has passed, or nothing changed", () => {
    expect(needsAcceptance(device, newRecord(7, "w1"))).toBe(false);
    expect(identityChanged(device, newRecord(7, "w1"))).toBe(false);
    expect(needsAcceptance({ ...device, approvedEks: OLD }, record)).toBe(false);
  });

  it.each([["oops"], [[]], [null], [[{ digest: digest("b") }]]])(
    "cannot be given for no binding: %j",
    (approvedEks) => {
      const row = { ...device, approvedEks };
      const acceptedEks = accepted(log(["active", OLD], ["planned", approvedEks]), row);
      expect([acceptedEks, boundUuid(row, { ...record, acceptedEks })]).toEqual([null, UUID]);
    },
  );
});
