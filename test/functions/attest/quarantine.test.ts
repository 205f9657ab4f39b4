import { describe, expect, it } from "vitest";
import { newFleetRecord } from "../../../shared/fleet/fleet-record.ts";
import {
  afterIntake,
  countFailure,
  earnsIdentity,
  isMassFailure,
  withAttention,
} from "../../../shared/fleet/plan/quarantine.ts";
import { type DeviceRecord, newRecord, recordSchema, type VerdictRecord } from "../../../shared/fleet/record.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { aRun } from "../config/world.ts";

const NOW = Date.UTC(2026, 10, 29, 12);
const DAY = 86_400_000;
const verdict = (result: "pass" | "fail", change: Partial<VerdictRecord> = {}): VerdictRecord => ({
  result,
  by: "intake",
  atMs: NOW,
  codes: result === "pass" ? [] : ["authority-not-accepted"],
  dbxHash: "d1",
  sbatLevel: "s1",
  ...change,
});
const about = { uuid: "4c4c4544-0034-4410-8043-b7c04f335131", massFailure: false };

/** A worker (or control plane) that fleetd installed. */
function installed(workload: "worker" | "controlplane" = "worker"): DeviceRecord {
  const cls = aRun().class;
  if (cls === null) throw new Error("no class");
  const frozen = { ...cls, class: { ...cls.class, workload } };
  return {
    ...newRecord(7, "w1"),
    installed: { class: frozen, servedAtMs: 1, run: "r", activatedAtMs: 1 },
  };
}

describe("a failed intake", () => {
  it("quarantines an installed worker, once", () => {
    const first = afterIntake(installed(), aDevice(), verdict("fail"), about);
    expect(first.quarantine).toEqual({ by: "intake", sinceMs: NOW, node: "w1" });
    const again = afterIntake(first, aDevice(), verdict("fail", { atMs: NOW + 1 }), about);
    expect(again.quarantine?.sinceMs).toBe(NOW);
  });

  it("is a verdict alone for a control plane, for a machine without an installation, and in a mass failure", () => {
    const failed = verdict("fail");
    const tell = (record: DeviceRecord, massFailure = false) =>
      afterIntake(record, aDevice(), failed, { ...about, massFailure });
    for (const record of [tell(installed("controlplane")), tell(newRecord(7, "w1")), tell(installed(), true)]) {
      expect(record.quarantine).toBeNull();
      expect(record.verdict).toMatchObject(failed);
      expect([record.uuid, record.passedEks]).toEqual([null, null]);
    }
    expect(tell(installed(), true).verdict?.heldBack).toBe(true);
    for (const record of [tell(installed("controlplane"), true), tell(newRecord(7, "w1"), true), tell(installed())])
      expect(record.verdict?.heldBack).toBeUndefined();
  });
});

describe("a passing intake", () => {
  it("ends the quarantine of an intake, not one of a renewal", () => {
    const by = (kind: "intake" | "renewal") => ({
      ...installed(),
      quarantine: { by: kind, sinceMs: 1, node: "w1" },
    });
    expect(afterIntake(by("intake"), aDevice(), verdict("pass"), about).quarantine).toBeNull();
    expect(afterIntake(by("renewal"), aDevice(), verdict("pass"), about).quarantine).not.toBeNull();
  });

  it("of two causes it takes its own away", () => {
    const quarantine = { by: "renewal" as const, sinceMs: 1, node: "w1" };
    const both = afterIntake({ ...installed(), quarantine }, aDevice(), verdict("fail"), about);
    expect(both.quarantine).toEqual({ ...quarantine, also: "intake" });
    expect(afterIntake(both, aDevice(), verdict("pass"), about).quarantine).toEqual(quarantine);
    const other = { by: "intake" as const, sinceMs: 1, node: "w1", also: "renewal" as const };
    const left = afterIntake({ ...installed(), quarantine: other }, aDevice(), verdict("pass"), about);
    expect(left.quarantine).toEqual(quarantine);
    expect(recordSchema.parse(JSON.parse(JSON.stringify(both)))).toEqual(both);
  });

  it("records UUID and EKs, the first UUID for good, and the verdict's time in a run that goes on", () => {
    const run = aRun({ phase: "waiting", verdictAtMs: null });
    const record = afterIntake({ ...newRecord(7, "w1"), run }, aDevice(), verdict("pass"), about);
    expect(record).toMatchObject({
      uuid: about.uuid,
      passedEks: run.eks,
    });
    expect(record.run?.verdictAtMs).toBe(NOW);
    const again = afterIntake(record, aDevice(), verdict("pass"), { ...about, uuid: "other" });
    expect(again.uuid).toBe(about.uuid);
    const ended = afterIntake(
      { ...record, run: aRun({ phase: "ended", verdictAtMs: 1 }) },
      aDevice(),
      verdict("pass"),
      about,
    );
    expect(ended.run?.verdictAtMs).toBe(1);
  });

  it("says that dbx or SbatLevel changed since the last one", () => {
    const before = afterIntake(newRecord(7, "w1"), aDevice(), verdict("pass"), about);
    const after = afterIntake(before, aDevice(), verdict("pass", { dbxHash: "d2", atMs: NOW + 1 }), about);
    expect(after.journal.map((l) => l.code)).toContain("dbx-changed");
    expect(after.journal.map((l) => l.code)).not.toContain("sbat-changed");
    expect(before.journal.map((l) => l.code)).toEqual(["attested"]);
  });
});

describe("mass failure", () => {
  const failedOf = (ids: readonly number[], atMs = NOW) =>
    ids.reduce((fleet, id) => countFailure(fleet, id, atMs, DAY), newFleetRecord(0));

  it("begins beyond the larger of five devices and two in a hundred, within a day", () => {
    expect(isMassFailure(failedOf([1, 2, 3, 4]), 5, 10, NOW, DAY)).toBe(false);
    expect(isMassFailure(failedOf([1, 2, 3, 4, 5]), 6, 10, NOW, DAY)).toBe(true);
    expect(isMassFailure(failedOf([1, 2, 3, 4, 5]), 5, 10, NOW, DAY)).toBe(false);
    expect(isMassFailure(failedOf([1, 2, 3, 4, 5]), 6, 1000, NOW, DAY)).toBe(false);
    expect(isMassFailure(failedOf([1, 2, 3, 4, 5]), 6, 10, NOW + DAY, DAY)).toBe(false);
  });

  it("counts a device once, and forgets after the window", () => {
    expect(failedOf([1, 1, 2]).failed.map((f) => f.deviceId)).toEqual([1, 2]);
    expect(countFailure(failedOf([1]), 2, NOW + DAY, DAY).failed.map((f) => f.deviceId)).toEqual([2]);
  });
});

describe("a year's identity", () => {
  const entry = (status: string, desiredAction: string | null, user = "owner") => ({
    requestId: "r2",
    atMs: NOW,
    user,
    action: "update" as const,
    before: { status: "active", desiredAction: null, approvedEks: null },
    after: { status, desiredAction, approvedEks: null },
  });
  const context = (...changes: ReturnType<typeof entry>[]) => ({ changes, netboxUser: "fleetd", epochMs: 1 });
  const record = newRecord(7, "w1");

  it("is earned by an unfinished provision, or a fresh request for one", () => {
    expect(earnsIdentity(aDevice(), { ...record, run: aRun() }, context())).toBe(true);
    expect(earnsIdentity(aDevice(), record, context(entry("planned", null)))).toBe(true);
    const asked = { ...aDevice(), status: "active", desiredAction: "provision" };
    expect(earnsIdentity(asked, record, context(entry("active", "provision")))).toBe(true);
  });

  it("is not earned by other runs, used or held requests, or fleetd's own writes", () => {
    expect(earnsIdentity(aDevice(), { ...record, run: aRun({ kind: "attest" }) }, context())).toBe(false);
    expect(earnsIdentity(aDevice(), { ...record, run: aRun({ phase: "ended" }) }, context())).toBe(false);
    expect(earnsIdentity(aDevice(), record, context(entry("planned", null, "fleetd")))).toBe(false);
    expect(earnsIdentity(aDevice(), record, { ...context(entry("planned", null)), epochMs: NOW })).toBe(false);
    const used = { ...record, lastRequests: { install: { id: "r2", atMs: NOW }, attest: null } };
    expect(earnsIdentity(aDevice(), used, context(entry("planned", null)))).toBe(false);
    const attest = { ...aDevice(), status: "active", desiredAction: "attest" };
    expect(earnsIdentity(attest, record, context(entry("active", "attest")))).toBe(false);
  });
});

it("what a machine was told is written once for each reason", () => {
  const told = withAttention(newRecord(7, "w1"), "slot", "wait", "confirm", NOW);
  expect(withAttention(told, "slot", "other words", "confirm", NOW + 1)).toBe(told);
  expect(withAttention(told, "protected", "no", "confirm", NOW + 1).attention?.code).toBe("protected");
});
