import fc from "fast-check";
import { expect, it } from "vitest";
import { approvedDigests } from "../../../shared/fleet/binding.ts";
import { afterRenewal, identityUse, withRenewedIdentity } from "../../../shared/fleet/plan/renewal.ts";
import { type DeviceRecord, type IdentityRecord, newRecord } from "../../../shared/fleet/record.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { aRun } from "../config/world.ts";

const OVERLAP_MS = 30 * 86_400_000;
const device = { ...aDevice(), status: "active" };

interface Session {
  readonly shown: IdentityRecord;
  /** As the token carries it. */
  readonly recordedLdevid: string;
}

/**
 * fleetd's record and one node, which runs one renewal at a time: it gives a session up before it begins another, and
 * the request of one that it gave up may still arrive, at any time.
 */
class Story {
  #made = 0;
  nowMs = Date.UTC(2026, 10, 29);
  held: IdentityRecord;
  record: DeviceRecord;
  readonly given: Session[] = [];
  /** Identities whose successor the node has proven: gone for good. */
  readonly ended: Pick<IdentityRecord, "ldevid" | "lak">[] = [];

  constructor() {
    this.held = this.#identity();
    const cls = aRun().class;
    if (cls === null) throw new Error("no class");
    const installed = { class: cls, servedAtMs: 1, run: "r", activatedAtMs: 1 };
    const passedEks = [...approvedDigests(device.approvedEks)];
    this.record = { ...newRecord(7, "w1"), installed, passedEks, identity: this.held };
  }

  #identity(): IdentityRecord {
    this.#made++;
    const serial = String(this.#made);
    const of = (kind: string) => ({ serialNumber: `${kind} ${serial}`, spkiSha256: kind, notAfterMs: 1 });
    return { ldevid: of("ldevid"), lak: of("lak"), subject: "CN=w1.0", issuedAtMs: this.nowMs };
  }

  use(shown: Pick<IdentityRecord, "ldevid" | "lak">) {
    return identityUse(this.record, shown, this.nowMs, OVERLAP_MS);
  }

  begin(): Session | null {
    const { identity } = this.record;
    if (this.use(this.held) === null || identity === null) return null;
    return { shown: this.held, recordedLdevid: identity.ldevid.serialNumber };
  }

  /** The handler's evidence for an honest quote: what it answers. */
  evidence({ shown, recordedLdevid }: Session): IdentityRecord | null {
    const use = this.use(shown);
    if (use === null || this.record.identity?.ldevid.serialNumber !== recordedLdevid) return null;
    const before = this.record.replacedIdentity;
    const verdict = {
      result: "pass",
      by: "renewal",
      atMs: this.nowMs,
      codes: [],
      dbxHash: null,
      sbatLevel: null,
    } as const;
    const counters = {
      lakSpkiSha256: "lak",
      clock: "1",
      safe: true,
      resetCount: 1,
      restartCount: 0,
      firmwareVersion: "1",
      atMs: 1,
    };
    const about = { use, recordedLdevid, massFailure: false, counters };
    this.record = afterRenewal(this.record, device, { ...verdict, codes: [] }, about);
    if (before !== null && use === "current") this.ended.push(before);
    const issued = this.#identity();
    const next = withRenewedIdentity(this.record, device, {
      ...{ use, recordedLdevid, installedRun: "r", chassisSerial: device.serial },
      ...{ issued, bootProven: true },
    });
    if (next === null) return null;
    this.record = next;
    return issued;
  }

  renew(arrives: boolean): boolean {
    const session = this.begin();
    const issued = session && this.evidence(session);
    if (arrives && issued) this.held = issued;
    return issued !== null;
  }
}

const step = fc.oneof(
  fc.record({ do: fc.constant("renew" as const), arrives: fc.boolean() }),
  // A session whose request does not arrive yet, and one of those whose request arrives late.
  fc.record({ do: fc.constant("give-up" as const) }),
  fc.record({ do: fc.constant("late" as const), which: fc.nat(9) }),
  fc.record({ do: fc.constant("wait" as const), days: fc.integer({ min: 0, max: 8 }) }),
);

it("whatever answers are lost and whatever requests come late, the node renews, and what was used up stays so", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const story = new Story();
      let lastArrivedMs = story.nowMs;
      for (const one of steps) {
        if (one.do === "renew" && story.renew(one.arrives) && one.arrives) lastArrivedMs = story.nowMs;
        if (one.do === "give-up") {
          const session = story.begin();
          if (session !== null) story.given.push(session);
        }
        if (one.do === "late") {
          const [session] = story.given.splice(one.which % Math.max(story.given.length, 1), 1);
          if (session !== undefined) story.evidence(session);
        }
        // No answer for as long as the overlap: that is told (AttestationOld), and ended by adoption or a provision.
        if (one.do === "wait" && story.nowMs - lastArrivedMs + one.days * 86_400_000 <= OVERLAP_MS)
          story.nowMs += one.days * 86_400_000;
        expect(story.use(story.held)).not.toBeNull();
        for (const identity of story.ended) expect(story.use(identity)).toBeNull();
      }
      expect(story.renew(true)).toBe(true);
      expect(story.renew(true)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
