import { afterRenewal, withAdoptedIdentity, withRenewedIdentity } from "../../shared/fleet/plan/renewal.ts";
import type { CountersRecord, IdentityRecord } from "../../shared/fleet/record.ts";
import { attests } from "./acts.ts";
import type { Model } from "./model.ts";
import { installed, type Story } from "./stories.ts";

const DAY_MINUTES = 24 * 60;

function identityOf(serial: string, atMs: number): IdentityRecord {
  const certificate = { serialNumber: serial, spkiSha256: `key of ${serial}`, notAfterMs: atMs + 365 * 86_400_000 };
  return {
    ldevid: certificate,
    lak: { ...certificate, spkiSha256: "lak" },
    subject: "CN=w1.0123456789abcdef",
    issuedAtMs: atMs,
  };
}

/** The handler's two writes at a renewal: verdict, then the identity where nothing stands in its way. */
function renews(m: Model, serial: string, codes: string[] = [], resetCount = 1): void {
  const wasQuarantined = m.record.quarantine !== null;
  const result = codes.length === 0 ? "pass" : "fail";
  const counters: CountersRecord = {
    ...{ lakSpkiSha256: "lak", clock: "1", safe: true, resetCount, restartCount: 0 },
    ...{ firmwareVersion: "1", atMs: m.nowMs },
  };
  const recordedLdevid = m.record.identity?.ldevid.serialNumber ?? "";
  const verdict = { result, by: "renewal", atMs: m.nowMs, codes, dbxHash: "d1", sbatLevel: null } as const;
  const about = { use: "current", recordedLdevid, massFailure: false, counters } as const;
  m.record = afterRenewal(m.record, m.device, { ...verdict, codes }, about);
  const issued = identityOf(serial, m.nowMs);
  const installedRun = m.record.installed?.run ?? "";
  const next =
    result === "pass" && !wasQuarantined
      ? withRenewedIdentity(m.record, m.device, {
          ...{ use: "current", recordedLdevid, installedRun, chassisSerial: m.device.serial },
          ...{ issued, bootProven: true },
        })
      : null;
  m.say(`renewal: ${result}, ${next === null ? "nothing issued" : `LDevID ${serial}`}`);
  m.record = next ?? m.record;
}

function running(): Model {
  const m = installed();
  m.lines.length = 0;
  m.record = { ...m.record, identity: identityOf("01", m.nowMs) };
  return m;
}

/** What running nodes prove, and what the planner does about it. */
export const renewalStories: readonly Story[] = [
  {
    name: "renewal-quarantine-and-back",
    tell: () => {
      const m = running();
      renews(m, "02");
      m.pass();
      m.minutes(7 * DAY_MINUTES);
      renews(m, "03", ["authority-not-accepted"]);
      m.pass();
      attests(m, "pass");
      m.say("a passing attestation in HookOS ends no quarantine that a renewal set");
      m.pass();
      renews(m, "04");
      m.pass();
      renews(m, "05");
      m.pass();
      return m;
    },
  },
  {
    name: "not-renewed-for-too-long",
    tell: () => {
      const m = running();
      m.minutes(31 * DAY_MINUTES);
      m.pass();
      m.minutes(DAY_MINUTES);
      m.pass();
      renews(m, "02");
      m.pass();
      m.say("the TPM's reset counter went back");
      renews(m, "03", [], 0);
      m.pass();
      return m;
    },
  },
  {
    name: "adopted",
    tell: () => {
      const m = running();
      const { class: frozen } = m.record.installed ?? {};
      if (frozen === undefined) throw new Error("nothing installed");
      m.say("fleetd knows nothing of it: another installation made it");
      m.record = { ...m.record, identity: null, installed: null, verdict: null, run: null, config: null, token: null };
      m.pass();
      m.say("fleetctl adopt");
      const about = { identity: identityOf("aa", m.nowMs), class: frozen, nowMs: m.nowMs };
      m.record = withAdoptedIdentity(m.record, { ...about, approvedEks: m.record.passedEks ?? [] }) ?? m.record;
      m.pass();
      renews(m, "02");
      m.pass();
      return m;
    },
  },
];
