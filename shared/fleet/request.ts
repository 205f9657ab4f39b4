import { z } from "zod";
import { needsAcceptance } from "./acceptance.ts";
import type { ChangeEntry, Device } from "./device.ts";
import { isoTime } from "./plan/shown.ts";
import type { DeviceRecord } from "./record.ts";

/** A request of an owner: an entry of NetBox's change log (spec/30, "Requests"). */
export interface Request {
  readonly kind: RequestKind;
  readonly id: string;
  readonly atMs: number;
}

/** provision, attest, wipe by desired_action; install: planned set by an owner; retire: decommissioning set by an owner. */
export type RequestKind = "provision" | "attest" | "wipe" | "install" | "retire";

export type Asked =
  | { readonly state: "none" }
  | { readonly state: "fresh"; readonly request: Request }
  /** Older than the epoch, or without an entry: held until it is set again or accepted. */
  | { readonly state: "held"; readonly kind: RequestKind; readonly reason: string }
  /** Not newer than the last one carried out: a lost write or an old row brought back. */
  | { readonly state: "old"; readonly kind: RequestKind; readonly id: string }
  /** NetBox's change log could not be read. */
  | { readonly state: "unknown"; readonly kind: RequestKind };

const ACTIONS: Readonly<Record<string, RequestKind>> = { provision: "provision", attest: "attest", wipe: "wipe" };

const secondCopy = z.looseObject({
  run: z.string(),
  requested_at: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  result: z.string(),
});

/**
 * True where NetBox's `fleet_run` says that a request of this kind or a later one was carried out by a run that the
 * record does not know: it was lost or went back. A withdrawn run says nothing: until enabled, its request stays fresh.
 * @see spec/00-overview.md "What fleetd remembers"
 */
function isOldBySecondCopy(entry: ChangeEntry | null, device: Device, record: DeviceRecord, attest: boolean): boolean {
  const read = secondCopy.safeParse(device.shown.fleetRun);
  if (entry === null || !read.success) return false;
  const { run, requested_at, result } = read.data;
  if (result === "withdrawn" || run === record.run?.name) return false;
  const isLost = record.lastRequests.attest === null && record.lastRequests.install === null;
  return (isLost || run.includes("-attest-") === attest) && isoTime(entry.atMs) <= requested_at;
}

export interface RequestContext {
  readonly changes: readonly ChangeEntry[] | null;
  readonly netboxUser: string;
  readonly epochMs: number;
}

function newest(
  context: RequestContext,
  changed: (before: ChangeEntry["before"], after: NonNullable<ChangeEntry["after"]>) => boolean,
): ChangeEntry | null {
  return (
    (context.changes ?? []).find(
      (e) => e.user !== context.netboxUser && e.after !== null && e.action !== "delete" && changed(e.before, e.after),
    ) ?? null
  );
}

function judge(
  kind: RequestKind,
  entry: ChangeEntry | null,
  last: { id: string; atMs: number } | null,
  context: RequestContext,
): Asked {
  if (context.changes === null) return { state: "unknown", kind };
  if (entry === null) return { state: "held", kind, reason: "NetBox's change log has no entry for it by an owner" };
  if (last !== null && entry.atMs <= last.atMs) return { state: "old", kind, id: entry.requestId };
  if (entry.atMs <= context.epochMs)
    return { state: "held", kind, reason: "it is older than fleetd's memory of this fleet" };
  return { state: "fresh", request: { kind, id: entry.requestId, atMs: entry.atMs } };
}

function oldOf(kind: RequestKind, entry: ChangeEntry | null): Asked {
  return { state: "old", kind, id: entry?.requestId ?? "" };
}

/** True where the change log must be read to plan the device. */
export function needsChanges(device: Device, record: DeviceRecord): boolean {
  if (device.desiredAction !== null || needsAcceptance(device, record)) return true;
  if (device.status === "planned") return record.run === null || record.run.phase === "ended";
  return device.status === "decommissioning" && (record.retire === null || record.retire.offlineAtMs !== null);
}

/** What `desired_action` asks. */
export function askedAction(device: Device, record: DeviceRecord, context: RequestContext): Asked {
  const kind = device.desiredAction === null ? undefined : ACTIONS[device.desiredAction];
  if (kind === undefined) return { state: "none" };
  const entry = newest(
    context,
    (before, after) => after.desiredAction === kind && before?.desiredAction !== after.desiredAction,
  );
  if (isOldBySecondCopy(entry, device, record, kind === "attest")) return oldOf(kind, entry);
  return judge(kind, entry, kind === "attest" ? record.lastRequests.attest : record.lastRequests.install, context);
}

function plannedByOwner(context: RequestContext): ChangeEntry | null {
  return newest(context, (before, after) => after.status === "planned" && before?.status !== "planned");
}

/** True where an owner set planned after the last install, provision or wipe that was carried out. */
export function isPlannedAnew(record: DeviceRecord, context: RequestContext): boolean {
  const entry = plannedByOwner(context);
  return entry !== null && entry.atMs > (record.lastRequests.install?.atMs ?? 0);
}

/** What status planned, set by an owner (creation too), asks: one first install, at admission only. */
export function askedInstall(device: Device, record: DeviceRecord, context: RequestContext): Asked {
  if (device.status !== "planned") return { state: "none" };
  const entry = plannedByOwner(context);
  if (isOldBySecondCopy(entry, device, record, false)) return oldOf("install", entry);
  return judge("install", entry, record.lastRequests.install, context);
}

/** What status decommissioning asks. */
export function askedRetire(device: Device, record: DeviceRecord, context: RequestContext): Asked {
  if (device.status !== "decommissioning") return { state: "none" };
  const entry = newest(
    context,
    (before, after) => after.status === "decommissioning" && before?.status !== "decommissioning",
  );
  return judge("retire", entry, record.retire?.offlineAtMs == null ? null : record.retire.request, context);
}
