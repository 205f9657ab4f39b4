import type { ReasonOf } from "../condition.ts";
import type { Device } from "../device.ts";
import type { FleetRecord } from "../fleet-record.ts";
import { type Happening, withJournal } from "../journal.ts";
import { isMass } from "../mass.ts";
import { isoTime } from "../moment.ts";
import type { DeviceRecord, Run, VerdictRecord } from "../record.ts";
import { isUnfinished } from "../record.ts";
import { type Asked, askedAction, askedInstall, type RequestContext } from "../request.ts";
import { boundByPass } from "./identity.ts";

/**
 * True where so many devices failed within the window that a bad profile edit is likelier than an attack. Those whose
 * failures an administrator accepted count no more.
 */
export function isMassFailure(
  fleet: FleetRecord,
  deviceId: number,
  deviceCount: number,
  nowMs: number,
  windowMs: number,
): boolean {
  const { acceptedFailures: word } = fleet;
  const accepted = new Set(word !== null && nowMs - word.atMs < windowMs ? word.devices : []);
  if (accepted.has(deviceId)) return false;
  const failed = new Set(fleet.failed.filter((f) => nowMs - f.atMs < windowMs).map((f) => f.deviceId));
  failed.add(deviceId);
  return isMass([...failed].filter((id) => !accepted.has(id)).length, deviceCount);
}

/** Counts a failing device once within the window. */
export function countFailure(fleet: FleetRecord, deviceId: number, nowMs: number, windowMs: number): FleetRecord {
  const recent = fleet.failed.filter((f) => nowMs - f.atMs < windowMs && f.deviceId !== deviceId);
  return { ...fleet, failed: [...recent, { deviceId, atMs: nowMs }] };
}

type Quarantine = NonNullable<DeviceRecord["quarantine"]>;

/** A failure that quarantined nobody, since so many failed at once: an administrator's word may make it count. */
export function withHeldBack(verdict: VerdictRecord, isHeldBack: boolean): VerdictRecord {
  return isHeldBack ? { ...verdict, heldBack: true } : verdict;
}

/** A failure under a quarantine of the other kind: both stand, since each ends by a pass of its own kind alone. */
export function withCause(standing: DeviceRecord["quarantine"], now: Omit<Quarantine, "also">): Quarantine {
  if (standing === null) return now;
  return standing.by === now.by ? standing : { ...standing, also: now.by };
}

/** What a pass of one kind leaves of a quarantine. */
export function withoutCause(standing: DeviceRecord["quarantine"], by: Quarantine["by"]): DeviceRecord["quarantine"] {
  if (standing === null || (standing.by !== by && standing.also !== by)) return standing;
  const { also, ...rest } = standing;
  if (also === undefined) return null;
  return { ...rest, by: standing.by === by ? also : standing.by };
}

/** What of the boot's variables changed since the verdict before: a warning, never a quarantine (spec/20, part 6). */
export function bootChanges(before: VerdictRecord | null, verdict: VerdictRecord): Happening[] {
  // A boot without shim measures no SbatLevel, and a refused log nothing: that is no change.
  const changed = (then: string | null | undefined, now: string | null) => then != null && now !== null && then !== now;
  const warning = (code: string, what: string): Happening => ({
    level: "warning",
    code,
    text: `${what} changed since the last pass`,
    about: String(verdict.atMs),
  });
  return [
    ...(changed(before?.dbxHash, verdict.dbxHash) ? [warning("dbx-changed", "dbx")] : []),
    ...(changed(before?.sbatLevel, verdict.sbatLevel) ? [warning("sbat-changed", "shim's SbatLevel")] : []),
    ...(changed(before?.earlyAuthorities, verdict.earlyAuthorities ?? null)
      ? [warning("early-authorities-changed", "what firmware trusted before the separator (option ROMs' authorities)")]
      : []),
  ];
}

/**
 * True for a session of a run's own boot: also where its Workflow was enabled, and nobody lived to write down that it
 * was (`starting`, with the moment noted right before).
 */
function isOfRun(run: Run | null, begunAtMs: number): run is Run {
  if (!isUnfinished(run)) return false;
  return run.phase !== "starting" || (run.enabledAtMs !== null && begunAtMs >= run.enabledAtMs);
}

/**
 * The record after an intake quote was judged: verdict, UUID and EKs at a pass, quarantine of an installed worker at a
 * failure, its end at a pass. A control plane gets the failed verdict and the alert only.
 * @see spec/30-reconcile.md "SPIRE and quarantine"
 */
export function afterIntake(
  record: DeviceRecord,
  device: Device,
  verdict: VerdictRecord,
  about: { readonly uuid: string; readonly massFailure: boolean; readonly begunAtMs?: number },
): DeviceRecord {
  const nowMs = verdict.atMs;
  const { run } = record;
  const session = {
    verdict,
    lastSessionAtMs: nowMs,
    lastSessionBegunAtMs: about.begunAtMs ?? nowMs,
    run: isOfRun(run, about.begunAtMs ?? nowMs) ? { ...run, verdictAtMs: nowMs } : run,
  };
  if (verdict.result === "pass") {
    const next: DeviceRecord = {
      ...record,
      ...session,
      ...boundByPass(device, record, about.uuid),
      quarantine: withoutCause(record.quarantine, "intake"),
      attention: record.attention?.about === "confirm" ? record.attention : null,
    };
    return withJournal(
      next,
      [
        ...bootChanges(record.verdict, verdict),
        {
          level: "success",
          code: "attested",
          text: "attested: TPM, keys and boot fit the class's policy",
          about: run !== null && isUnfinished(run) ? run.name : isoTime(nowMs).slice(0, 10),
        },
      ],
      nowMs,
    );
  }
  const worker = record.installed?.class.class.workload === "worker";
  return {
    ...record,
    ...session,
    verdict: withHeldBack(verdict, worker && about.massFailure),
    quarantine:
      worker && !about.massFailure
        ? withCause(record.quarantine, { by: "intake", sinceMs: nowMs, node: device.name })
        : record.quarantine,
  };
}

/** True where a pass earns certificates for a year: an unfinished provision, or a fresh request for one (spec/10, 2). */
export function earnsIdentity(device: Device, record: DeviceRecord, context: RequestContext): boolean {
  if (isUnfinished(record.run) && record.run.kind === "provision") return true;
  const fresh = (a: Asked, ...kinds: string[]) => a.state === "fresh" && kinds.includes(a.request.kind);
  return (
    fresh(askedAction(device, record, context), "provision") || fresh(askedInstall(device, record, context), "install")
  );
}

/** What the machine was last told, said once a run or day. */
export function withAttention(
  record: DeviceRecord,
  code: ReasonOf<"MachineWaits">,
  text: string,
  about: string,
  nowMs: number,
): DeviceRecord {
  const { attention } = record;
  if (attention !== null && attention.code === code && attention.about === about) return record;
  return { ...record, attention: { code, text, atMs: nowMs, about } };
}
