import { eksChanged } from "../binding.ts";
import type { FrozenClass } from "../class.ts";
import type { Device } from "../device.ts";
import { type Happening, withJournal } from "../journal.ts";
import { isEarlier, isoTime } from "../moment.ts";
import type { CountersRecord, DeviceRecord, IdentityRecord, VerdictRecord } from "../record.ts";
import { countersWarnings } from "./counters.ts";
import { bootChanges, withCause, withHeldBack, withoutCause } from "./quarantine.ts";

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
  readonly code: "not-expected" | "unsupported-class" | "identity-changed" | "inventory-unavailable";
  readonly detail: string;
}

/** Whether a decision was made on a newer row of the device than this one: a copy, a replica behind, a restored NetBox. */
export function isOldRow(device: Pick<Device, "lastUpdated">, record: Pick<DeviceRecord, "rowSeen">): boolean {
  return record.rowSeen !== null && isEarlier(device.lastUpdated, record.rowSeen);
}

/** Why this device renews nothing now, whatever its quote says, or null. @see spec/10-protocol.md section 5 */
export function renewalBar(device: Device, record: DeviceRecord): RenewalBar | null {
  const { name, status } = device;
  if (isOldRow(device, record))
    return {
      code: "inventory-unavailable",
      detail: `NetBox showed an older row of ${name} than fleetd has seen: try again`,
    };
  if (status !== "active")
    return { code: "not-expected", detail: `${name} is ${status}: only an active device renews its identity` };
  const { installed, passedEks, retire } = record;
  if (retire !== null && retire.offlineAtMs === null)
    return {
      code: "not-expected",
      detail: `${name} is being retired: no renewal until a pass has seen that taken back`,
    };
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
 * When this identity may be renewed at the earliest, or null where that is now. The one before renews at once: the
 * answer that brought the current one may have been lost.
 * @see infra/docs/adr/0007-renewal.md
 */
export function renewalTooEarly(
  record: Pick<DeviceRecord, "identity">,
  use: IdentityUse,
  nowMs: number,
  intervalMs: number,
): number | null {
  const { identity } = record;
  if (identity === null || use === "replaced") return null;
  const fromMs = identity.issuedAtMs + intervalMs;
  // An issue in the future is a clock that went back: it holds nothing up.
  return identity.issuedAtMs <= nowMs && nowMs < fromMs ? fromMs : null;
}

/**
 * The record after a renewal's quote was judged. A failure quarantines a worker; a pass ends a quarantine that a
 * renewal set, never one of an intake, whose failed verdict stays for as long. Nothing is issued here.
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
    const quarantine = withCause(record.quarantine, { by: "renewal", sinceMs: nowMs, node: device.name });
    const failed = about.massFailure ? { ...next, verdict: withHeldBack(verdict, true) } : { ...next, quarantine };
    return withJournal(worker ? failed : next, warnings, nowMs);
  }
  const left = withoutCause(record.quarantine, "renewal");
  const ended = record.quarantine !== null && left === null;
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
      verdict: left !== null && record.verdict?.result === "fail" ? stillFailed(record.verdict, verdict) : verdict,
      quarantine: left,
      attention: record.attention?.about === RENEWAL ? null : record.attention,
    },
    lines,
    nowMs,
  );
}

/** A quarantine's verdict is fail for as long as it stands (spec/30); what else the quote showed is newer. */
function stillFailed(failed: VerdictRecord, { dbxHash, sbatLevel, earlyAuthorities }: VerdictRecord): VerdictRecord {
  return { ...failed, dbxHash, sbatLevel, earlyAuthorities };
}

/**
 * The record with a renewed identity; null where record or device, read again after the signer's work, moved since the
 * session judged them: another session renewed, a later quote failed, the installation is another one, the owner
 * decommissions.
 */
export function withRenewedIdentity(
  record: DeviceRecord,
  device: Device,
  about: {
    readonly use: IdentityUse;
    /** Serial number of the LDevID that was recorded when the session began. */
    readonly recordedLdevid: string;
    readonly installedRun: string;
    readonly chassisSerial: string;
    readonly issued: IdentityRecord;
    readonly bootProven: boolean;
  },
): DeviceRecord | null {
  const { identity, installed, quarantine, verdict } = record;
  if (renewalBar(device, record) !== null || device.serial !== about.chassisSerial) return null;
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
