import { describe, expect, it } from "vitest";
import { countersWarnings } from "../../../shared/fleet/plan/counters.ts";
import {
  afterRenewal,
  identityUse,
  renewalBar,
  renewalTooEarly,
  withRenewedIdentity,
} from "../../../shared/fleet/plan/renewal.ts";
import {
  type CountersRecord,
  type DeviceRecord,
  type IdentityRecord,
  newRecord,
  recordSchema,
  type VerdictRecord,
} from "../../../shared/fleet/record.ts";
import { newRetire } from "../../../shared/fleet/retire-record.ts";
import { aRun } from "../../functions/config/world.ts";
import { aDevice } from "../../scenarios/fixtures.ts";

const NOW = Date.UTC(2026, 10, 29, 12);
const OVERLAP = 1_000;
const identity = (name: string): IdentityRecord => {
  const of = (kind: string) => ({
    serialNumber: `${kind} ${name}`,
    spkiSha256: `${kind} key ${name}`,
    notAfterMs: NOW,
  });
  return { ldevid: of("ldevid"), lak: of("lak"), subject: "CN=w1.0123456789abcdef", issuedAtMs: NOW };
};
const replaced = (name: string, replacedAtMs = NOW) => ({ ...identity(name), replacedAtMs });
const counters = (change: Partial<CountersRecord> = {}): CountersRecord => ({
  ...{
    lakSpkiSha256: "lak",
    clock: "100",
    safe: true,
    resetCount: 5,
    restartCount: 2,
    firmwareVersion: "1",
    atMs: NOW,
  },
  ...change,
});
const verdict = (change: Partial<VerdictRecord> = {}): VerdictRecord => ({
  ...{ result: "pass", by: "renewal", atMs: NOW, codes: [], dbxHash: "d1", sbatLevel: "s1" },
  ...change,
});

function aRecord(change: Partial<DeviceRecord> = {}): DeviceRecord {
  const cls = aRun().class;
  if (cls === null) throw new Error("no class");
  return {
    ...newRecord(7, "w1"),
    installed: { class: cls, servedAtMs: 1, run: "r", activatedAtMs: 1 },
    passedEks: [`sha256:${"a".repeat(64)}`],
    identity: identity("b"),
    verdict: verdict(),
    ...change,
  };
}

describe("which identity a node shows", () => {
  const use = (record: DeviceRecord, shown: IdentityRecord, nowMs = NOW) => identityUse(record, shown, nowMs, OVERLAP);

  it("the current one, or the one before within the overlap", () => {
    const record = aRecord({ replacedIdentity: replaced("a") });
    expect(use(record, identity("b"))).toBe("current");
    expect(use(record, identity("a"))).toBe("replaced");
    expect(use(record, identity("a"), NOW + OVERLAP)).toBe("replaced");
    expect(use(record, identity("a"), NOW + OVERLAP + 1)).toBeNull();
    expect(use(record, identity("c"))).toBeNull();
  });

  it("each value counts, and no value of one certificate stands for the other's", () => {
    const record = aRecord();
    for (const kind of ["ldevid", "lak"] as const)
      for (const field of ["serialNumber", "spkiSha256"] as const) {
        const shown = { ...identity("b"), [kind]: { ...identity("b")[kind], [field]: "x" } };
        expect(use(record, shown)).toBeNull();
      }
    const mixed = { ...identity("b"), lak: identity("a").lak };
    expect(use(aRecord({ replacedIdentity: replaced("a") }), mixed)).toBeNull();
  });

  it("none without a current one: the one before goes with it", () => {
    expect(use(aRecord({ identity: null, replacedIdentity: replaced("a") }), identity("a"))).toBeNull();
  });
});

describe("who renews nothing", () => {
  const active = { ...aDevice(), status: "active" };
  const bar = (change: Partial<DeviceRecord>, device = active) => renewalBar(device, aRecord(change))?.code ?? null;

  it("an active device that fleetd installed renews", () => {
    expect(bar({})).toBeNull();
  });

  it.each(["planned", "decommissioning", "offline", "failed"])("not one that is %s", (status) => {
    expect(bar({}, { ...active, status })).toBe("not-expected");
  });

  it("not one without an installation, of a class that does not renew, or with other EKs", () => {
    expect(bar({ installed: null })).toBe("not-expected");
    const { installed } = aRecord();
    if (installed === null) throw new Error("nothing installed");
    for (const reattest of ["netboot", "none"] as const) {
      const cls = { ...installed.class, class: { ...installed.class.class, reattest } };
      expect(bar({ installed: { ...installed, class: cls } })).toBe("unsupported-class");
    }
    expect(bar({ passedEks: null })).toBe("identity-changed");
    expect(bar({}, { ...active, approvedEks: [] })).toBe("identity-changed");
  });

  it("not one that is being retired, though a restored NetBox calls it active", () => {
    const retire = newRetire({ id: "r", atMs: 1 });
    expect(bar({ retire })).toBe("not-expected");
    expect(bar({ retire: { ...retire, offlineAtMs: 1 } })).toBeNull();
  });

  it("not by a row older than one that a decision was made on", () => {
    const at = (lastUpdated: string) => ({ ...active, lastUpdated });
    const rowSeen = "2026-11-29T12:00:00.000001Z";
    expect(bar({ rowSeen }, at("2026-11-29T12:00:00Z"))).toBe("inventory-unavailable");
    expect(bar({ rowSeen }, at(rowSeen))).toBeNull();
    expect(bar({ rowSeen }, at("2026-11-29T12:00:01Z"))).toBeNull();
  });
});

describe("how soon", () => {
  const early = (use: "current" | "replaced", nowMs: number) => renewalTooEarly(aRecord(), use, nowMs, 1_000);

  it("not before the interval is over; the one before at once, since an answer may be lost", () => {
    expect([early("current", NOW), early("current", NOW + 999), early("current", NOW + 1_000)]).toEqual([
      NOW + 1_000,
      NOW + 1_000,
      null,
    ]);
    expect(early("replaced", NOW)).toBeNull();
  });

  it("an identity of the future is a clock that went back: it bars nobody", () => {
    expect(early("current", NOW - 1)).toBeNull();
    expect(renewalTooEarly({ identity: null }, "current", NOW, 1_000)).toBeNull();
  });
});

describe("after a renewal's quote was judged", () => {
  const about = { use: "current", recordedLdevid: "ldevid b", massFailure: false, counters: counters() } as const;
  const device = { ...aDevice(), status: "active" };

  it("the current identity was used: the one before ends, whatever the verdict", () => {
    const record = aRecord({ replacedIdentity: replaced("a") });
    expect(afterRenewal(record, device, verdict(), about).replacedIdentity).toBeNull();
    const failed = verdict({ result: "fail", codes: ["x"] });
    expect(afterRenewal(record, device, failed, about).replacedIdentity).toBeNull();
    const before = { ...about, use: "replaced" } as const;
    expect(afterRenewal(record, device, verdict(), before).replacedIdentity).toEqual(replaced("a"));
    // Current when the session began, but another session renewed since: that one's way back stays.
    const moved = { ...about, recordedLdevid: "ldevid a" };
    expect(afterRenewal(record, device, verdict(), moved).replacedIdentity).toEqual(replaced("a"));
  });

  it("an attest run's verdict is HookOS's: a renewal's is none", () => {
    const run = aRun({ kind: "attest", phase: "waiting", verdictAtMs: null });
    const after = afterRenewal(aRecord({ run }), device, verdict(), about);
    expect([after.run?.verdictAtMs, after.lastSessionAtMs, after.uuid]).toEqual([null, null, null]);
  });

  it("a pass ends what a renewal said, not what an intake did", () => {
    const attention = { code: "identity-changed", text: "t", atMs: 1, about: "renewal" };
    const by = (kind: "intake" | "renewal") => ({ by: kind, sinceMs: 1, node: "w1" });
    const ended = afterRenewal(aRecord({ attention, quarantine: by("renewal") }), device, verdict(), about);
    expect([ended.attention, ended.quarantine]).toEqual([null, null]);
    expect(ended.journal.map((line) => line.code)).toEqual(["quarantine-ended"]);
    const other = { ...attention, about: "confirm" };
    const kept = afterRenewal(aRecord({ attention: other, quarantine: by("intake") }), device, verdict(), about);
    expect([kept.attention, kept.quarantine?.by]).toEqual([other, "intake"]);
  });

  it("a failure and a pass under both causes: each kind takes its own away, the failed verdict stays until the last", () => {
    const failed = verdict({ result: "fail", by: "intake", codes: ["x"] });
    const quarantine = { by: "intake" as const, sinceMs: 1, node: "w1" };
    const both = afterRenewal(aRecord({ quarantine, verdict: failed }), device, verdict({ result: "fail" }), about);
    expect(both.quarantine).toEqual({ ...quarantine, also: "renewal" });
    const passed = afterRenewal({ ...both, verdict: failed }, device, verdict({ dbxHash: "d2" }), about);
    expect(passed.quarantine).toEqual(quarantine);
    expect(passed.verdict).toEqual({ ...failed, dbxHash: "d2" });
    expect(passed.journal.map((line) => line.code)).toEqual(["dbx-changed"]);
    // A token that was used twice quarantines under a verdict that passed: nothing of it failed.
    const contended = afterRenewal(aRecord({ quarantine }), device, verdict({ atMs: NOW + 1 }), about);
    expect([contended.quarantine, contended.verdict?.atMs]).toEqual([quarantine, NOW + 1]);
  });

  it("authorities before the separator that changed are a warning; in a record of before they are no change", () => {
    const told = (then: string | null | undefined, earlyAuthorities: string | null) =>
      afterRenewal(
        aRecord({ verdict: then === undefined ? verdict() : verdict({ earlyAuthorities: then }) }),
        device,
        verdict({ earlyAuthorities }),
        about,
      ).journal.map((line) => line.code);
    expect(told("a", "b")).toEqual(["early-authorities-changed"]);
    expect([told("a", "a"), told(undefined, "b"), told(null, "b"), told("a", null)]).toEqual([[], [], [], []]);
  });

  it("dbx or SbatLevel that changed is a warning; one that is not measured is no change", () => {
    const codes = (change: Partial<VerdictRecord>) =>
      afterRenewal(aRecord(), device, verdict(change), about).journal.map((line) => line.code);
    expect(codes({})).toEqual([]);
    expect(codes({ dbxHash: "d2" })).toEqual(["dbx-changed"]);
    expect(codes({ sbatLevel: "s2" })).toEqual(["sbat-changed"]);
    expect(codes({ dbxHash: null, sbatLevel: null })).toEqual([]);
    const first = afterRenewal(aRecord({ verdict: null }), device, verdict(), about);
    expect([first.journal, first.quarantine]).toEqual([[], null]);
  });
});

describe("the renewed identity", () => {
  const about = (change: object = {}) => ({
    ...{ use: "current" as const, recordedLdevid: "ldevid b", installedRun: "r", bootProven: true },
    issued: identity("c"),
    chassisSerial: active.serial,
    ...change,
  });
  const active = { ...aDevice(), status: "active" };
  const renewed = (record: DeviceRecord, changed: ReturnType<typeof about>, device = active) =>
    withRenewedIdentity(record, device, changed);

  it("takes the current one's place, which is kept for a lost answer", () => {
    const next = renewed(aRecord(), about());
    expect(next).toMatchObject({ identity: identity("c"), replacedIdentity: replaced("b") });
    expect(recordSchema.parse(JSON.parse(JSON.stringify(next)))).toEqual(next);
  });

  it("by the one before: it stays with its first day, and what was lost is gone", () => {
    const record = aRecord({ replacedIdentity: replaced("a", NOW - 500) });
    const next = renewed(record, about({ use: "replaced" }));
    expect([next?.identity, next?.replacedIdentity]).toEqual([identity("c"), replaced("a", NOW - 500)]);
  });

  it("is not written where the record moved", () => {
    expect(renewed(aRecord({ identity: null }), about())).toBeNull();
    expect(renewed(aRecord(), about({ recordedLdevid: "ldevid a" }))).toBeNull();
    expect(renewed(aRecord(), about({ installedRun: "another" }))).toBeNull();
    expect(renewed(aRecord({ installed: null }), about())).toBeNull();
    expect(renewed(aRecord({ verdict: verdict({ result: "fail" }) }), about())).toBeNull();
    expect(renewed(aRecord(), about(), { ...active, status: "decommissioning" })).toBeNull();
    expect(renewed(aRecord(), about(), { ...active, serial: "another" })).toBeNull();
    expect(renewed(aRecord(), about(), { ...active, approvedEks: [] })).toBeNull();
    const quarantine = { by: "intake" as const, sinceMs: 1, node: null };
    expect(renewed(aRecord({ quarantine }), about())).toBeNull();
  });

  it("says where the boot proves nothing", () => {
    const text = (bootProven: boolean) => renewed(aRecord(), about({ bootProven }))?.journal[0]?.text;
    expect(text(true)).not.toContain("proves nothing");
    expect(text(false)).toContain("the boot proves nothing");
  });
});

describe("a TPM's counters", () => {
  const codes = (now: Partial<CountersRecord>, then: Partial<CountersRecord> = {}) =>
    countersWarnings(counters(then), counters(now)).map((line) => line.code);

  it("that go on say nothing", () => {
    expect(countersWarnings(null, counters())).toEqual([]);
    expect(codes({})).toEqual([]);
    expect(codes({ resetCount: 6, restartCount: 0, clock: "1" })).toEqual([]);
    expect(codes({ restartCount: 3, clock: "1" })).toEqual([]);
    expect(codes({ clock: "101" })).toEqual([]);
  });

  it("that go back are told: resets, restarts within one, the clock within both", () => {
    expect(codes({ resetCount: 4 })).toEqual(["counters-back"]);
    expect(codes({ restartCount: 1 })).toEqual(["counters-back"]);
    expect(codes({ clock: "99" })).toEqual(["counters-back"]);
    expect(codes({ clock: "18446744073709551615" }, { clock: "18446744073709551614" })).toEqual([]);
  });

  it("wrap, since a constant is added to them", () => {
    expect(codes({ resetCount: 1 }, { resetCount: 0xffff_ffff })).toEqual([]);
    expect(codes({ resetCount: 0xffff_ffff }, { resetCount: 1 })).toEqual(["counters-back"]);
  });

  it("of a clock that the TPM itself calls unsafe, or of another LAK, prove nothing", () => {
    expect(codes({ clock: "99", safe: false })).toEqual([]);
    expect(codes({ resetCount: 1, firmwareVersion: "2", lakSpkiSha256: "other" })).toEqual([]);
  });

  it("with another firmware version: told", () => {
    expect(codes({ firmwareVersion: "2" })).toEqual(["tpm-firmware-changed"]);
  });
});
