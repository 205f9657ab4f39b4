import { eksChanged } from "../binding.ts";
import type { FrozenClass } from "../class.ts";
import type { Device } from "../device.ts";
import { type Happening, withJournal } from "../journal.ts";
import type { CountersRecord, DeviceRecord, IdentityRecord, VerdictRecord } from "../record.ts";
import { countersWarnings } from "./counters.ts";
import { bootChanges } from "./quarantine.ts";
import { isoTime } from "./shown.ts";

interface Named {
  readonly serialNumber: string;
  readonly spkiSha256: string;
}

/** What names the two certificates that a node shows. */
export interface PresentedIdentity {
  readonly ldevid: Named;
  readonly lak: Named;
}

/** `replaced`: the one before, while nothing proves that the answer with the current one arrived. */
export type IdentityUse = "current" | "replaced";

/** What `about` says of an attention that a renewal caused. */
export const RENEWAL = "renewal";

/**
 * Which of the recorded identities a node shows, or null. The one before is accepted until the current one was used
 * once, and no longer than `overlapMs` after it was replaced: an answer may be lost after the record was written.
 * @see infra/docs/adr/0007-renewal.md
 */
export function identityUse(
  record: DeviceRecord,
  presented: PresentedIdentity,
  nowMs: number,
  overlapMs: number,
): IdentityUse | null {
  const same = (a: Named, b: Named) => a.serialNumber === b.serialNumber && a.spkiSha256 === b.spkiSha256;
  const is = (identity: Pick<IdentityRecord, "ldevid" | "lak">) =>
    same(identity.ldevid, presented.ldevid) && same(identity.lak, presented.lak);
  const { identity, replacedIdentity } = record;
  if (identity === null) return null;
  if (is(identity)) return "current";
  if (replacedIdentity === null || nowMs - replacedIdentity.replacedAtMs > overlapMs) return null;
  return is(replacedIdentity) ? "replaced" : null;
}

export interface RenewalBar {
  readonly code: "not-expected" | "unsupported-class" | "identity-changed";
  readonly detail: string;
}

/** Why this device renews nothing now, whatever its quote says, or null. @see spec/10-protocol.md section 5 */
export function renewalBar(device: Device, record: DeviceRecord): RenewalBar | null {
  const { name, status } = device;
  if (status !== "active")
    return { code: "not-expected", detail: `${name} is ${status}: only an active device renews its identity` };
  const { installed, passedEks } = record;
  if (installed === null)
    return { code: "not-expected", detail: `${name} is active, but fleetd served no configuration: no renewal` };
  const { reattest } = installed.class.class;
  if (reattest !== "renew")
    return {
      code: "unsupported-class",
      detail: `class ${installed.class.name}, as installed, has reattest ${reattest}: its nodes do not renew`,
    };
  if (passedEks === null || eksChanged(device, record))
    return {
      code: "identity-changed",
      detail: `approved_eks of ${name} changed since the last pass: no renewal until it is set planned and attests`,
    };
  return null;
}

/**
 * The record after a renewal's quote was judged. A failure quarantines a worker; a pass ends a quarantine that a
 * renewal set, never one of an intake. Nothing is issued here.
 * @see spec/30-reconcile.md "SPIRE and quarantine"
 */
export function afterRenewal(
  record: DeviceRecord,
  device: Device,
  verdict: VerdictRecord,
  about: {
    readonly use: IdentityUse;
    readonly recordedLdevid: string;
    readonly massFailure: boolean;
    readonly counters: CountersRecord;
  },
): DeviceRecord {
  const nowMs = verdict.atMs;
  const used = about.use === "current" && record.identity?.ldevid.serialNumber === about.recordedLdevid;
  const next: DeviceRecord = {
    ...record,
    verdict,
    counters: about.counters,
    // Its quote and signature were by the current identity: the answer that brought it has arrived.
    replacedIdentity: used ? null : record.replacedIdentity,
  };
  const warnings = countersWarnings(record.counters, about.counters);
  if (verdict.result === "fail") {
    const worker = record.installed?.class.class.workload === "worker";
    const quarantine = record.quarantine ?? { by: "renewal" as const, sinceMs: nowMs, node: device.name };
    return withJournal(worker && !about.massFailure ? { ...next, quarantine } : next, warnings, nowMs);
  }
  const ended = record.quarantine?.by === "renewal";
  const lines: Happening[] = [...bootChanges(record.verdict, verdict), ...warnings];
  if (ended)
    lines.push({
      level: "success",
      code: "quarantine-ended",
      text: "the quarantine ended: a renewal's quote passed; the next renewal renews",
      about: String(record.quarantine?.sinceMs),
    });
  return withJournal(
    {
      ...next,
      quarantine: ended ? null : record.quarantine,
      attention: record.attention?.about === RENEWAL ? null : record.attention,
    },
    lines,
    nowMs,
  );
}

/**
 * The record with a renewed identity; null where it moved since the session judged it: another session renewed, a
 * later quote failed, or the installation is another one.
 */
export function withRenewedIdentity(
  record: DeviceRecord,
  about: {
    readonly use: IdentityUse;
    /** Serial number of the LDevID that was recorded when the session began. */
    readonly recordedLdevid: string;
    readonly installedRun: string;
    readonly issued: IdentityRecord;
    readonly bootProven: boolean;
  },
): DeviceRecord | null {
  const { identity, installed, quarantine, verdict } = record;
  if (identity === null || identity.ldevid.serialNumber !== about.recordedLdevid) return null;
  if (installed?.run !== about.installedRun || quarantine !== null || verdict?.result !== "pass") return null;
  const { issued } = about;
  const until = isoTime(issued.ldevid.notAfterMs).slice(0, 10);
  const proof = about.bootProven
    ? "LAK, keys and boot of the installed system fit"
    : "LAK and keys fit; its class asks for no Secure Boot, so the boot proves nothing";
  return withJournal(
    {
      ...record,
      identity: issued,
      // Of several lost answers only the last one counts; what the node still holds keeps its first day.
      replacedIdentity:
        about.use === "replaced" ? record.replacedIdentity : { ...identity, replacedAtMs: issued.issuedAtMs },
    },
    [
      {
        level: "info",
        code: "renewed",
        text: `identity renewed until ${until}: ${proof}`,
        about: issued.ldevid.serialNumber,
      },
    ],
    issued.issuedAtMs,
  );
}

/**
 * The record of a running node that an administrator entered with the certificates that it holds; null where its EKs
 * are not those that passed. A node that fleetd did not install counts as installed with the class that NetBox names
 * now: without that nothing could judge its renewals. It proves itself at the next renewal, and is listed then.
 * @see spec/10-protocol.md section 5; infra/docs/adr/0007-renewal.md
 */
export function withAdoptedIdentity(
  record: DeviceRecord,
  about: {
    readonly identity: IdentityRecord;
    readonly class: FrozenClass;
    readonly approvedEks: readonly string[];
    readonly nowMs: number;
  },
): DeviceRecord | null {
  const { identity, nowMs } = about;
  if (record.passedEks !== null && record.passedEks.join() !== about.approvedEks.join()) return null;
  const same = (a: Named, b: Named | undefined) => a.serialNumber === b?.serialNumber && a.spkiSha256 === b.spkiSha256;
  if (same(identity.ldevid, record.identity?.ldevid) && same(identity.lak, record.identity?.lak)) return record;
  const installed = record.installed ?? {
    class: about.class,
    servedAtMs: nowMs,
    run: "adopted",
    activatedAtMs: nowMs,
  };
  return withJournal(
    {
      ...record,
      identity,
      replacedIdentity: null,
      installed,
      passedEks: [...about.approvedEks],
    },
    [
      {
        level: "warning",
        code: "adopted",
        text: `adopted by an administrator: LDevID ${identity.ldevid.serialNumber}, judged by class ${installed.class.name} at its renewals`,
        about: identity.ldevid.serialNumber,
      },
    ],
    nowMs,
  );
}
