import { z } from "zod";
import { needsAcceptance } from "./acceptance.ts";
import type { RequestKind } from "./accepted-request.ts";
import type { ChangeEntry, Device } from "./device.ts";
import { isoTime } from "./moment.ts";
import { type DeviceRecord, isUnfinished, type RunKind } from "./record.ts";

/** A request of an owner: an entry of NetBox's change log (spec/30, "Requests"). */
export interface Request {
  readonly kind: RequestKind;
  readonly id: string;
  readonly atMs: number;
}

export type Asked =
  | { readonly state: "none" }
  | { readonly state: "fresh"; readonly request: Request }
  /** Older than the epoch, or without an entry: held until it is set again or accepted. */
  | {
      readonly state: "held";
      readonly kind: RequestKind;
      readonly reason: string;
      readonly entry: ChangeEntry | null;
    }
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
  context: Pick<RequestContext, "changes" | "netboxUser">,
  changed: (before: ChangeEntry["before"], after: NonNullable<ChangeEntry["after"]>) => boolean,
): ChangeEntry | null {
  return (
    (context.changes ?? []).find(
      (e) => e.user !== context.netboxUser && e.after !== null && e.action !== "delete" && changed(e.before, e.after),
    ) ?? null
  );
}

type Log = Pick<RequestContext, "changes" | "netboxUser">;
type Field = "status" | "desiredAction";

/** An owner's newest entry that changed the field. */
function newestChange(log: Log, field: Field): ChangeEntry | null {
  return newest(log, (before, after) => (before?.[field] ?? null) !== after[field]);
}

/** An owner's newest entry that set the field to this. */
function newestSet(log: Log, field: Field, value: string): ChangeEntry | null {
  return newest(log, (before, after) => after[field] === value && before?.[field] !== value);
}

/**
 * The owner's entry by which the field has its value; null where an owner changed it since: then somebody's save of an old
 * row brought it back, which is nobody's word.
 */
function standing(log: Log, field: Field, value: string): ChangeEntry | null {
  const entry = newestChange(log, field);
  return entry?.after?.[field] === value ? entry : null;
}

/**
 * fleetd's own entry that took away what an owner's entry had asked, or null: it is written once the request was carried
 * out or is void. A memory that is lost, or from before, does not know of it; NetBox's log does, whatever the row shows.
 */
function answerTo({ changes, netboxUser }: Log, field: Field, asking: ChangeEntry | null): ChangeEntry | null {
  if (asking === null || changes === null) return null;
  const value = asking.after?.[field];
  const since = changes.slice(0, Math.max(changes.indexOf(asking), 0));
  return (
    since.find(
      (e) => e.user === netboxUser && e.before?.[field] === value && e.after !== null && e.after[field] !== value,
    ) ?? null
  );
}

/**
 * What of the log shows that fleetd has answered a request: of its own field, and for a first install that of a later
 * provision or wipe, which uses it up. Empty where nothing does.
 */
function answered(kind: RequestKind, entry: ChangeEntry | null, log: Log): readonly ChangeEntry[] {
  const own = answerTo(log, kind === "install" || kind === "retire" ? "status" : "desiredAction", entry);
  if (own !== null) return [own];
  if (kind !== "install" || entry === null) return [];
  return ["provision", "wipe"].flatMap((action) => {
    const later = newestSet(log, "desiredAction", action);
    const answer = answerTo(log, "desiredAction", later);
    return later === null || answer === null || later.atMs < entry.atMs ? [] : [later, answer];
  });
}

/** What an administrator's word makes of a request that is held or that nobody can read: carried out once, then old. */
function byWord(asked: Asked, entry: ChangeEntry | null, last: { atMs: number } | null, record: DeviceRecord): Asked {
  const { acceptedRequest: word } = record;
  if ((asked.state !== "held" && asked.state !== "unknown") || word === null || word.kind !== asked.kind) return asked;
  const { kind, request } = word;
  const isMeant =
    word.row === null ? entry?.requestId === request.id : word.takenUp && (entry === null || entry.atMs <= word.atMs);
  if (!isMeant) return asked;
  return last !== null && request.atMs <= last.atMs
    ? { state: "old", kind, id: request.id }
    : { state: "fresh", request: { kind, id: request.id, atMs: request.atMs } };
}

function judge(
  kind: RequestKind,
  entry: ChangeEntry | null,
  last: { id: string; atMs: number } | null,
  context: RequestContext,
  record: DeviceRecord,
): Asked {
  const heldBeforeMs = kind === "attest" ? null : (record.inventoryBack?.heldBeforeMs ?? null);
  return byWord(judgeEntry(kind, entry, last, { ...context, heldBeforeMs }), entry, last, record);
}

/** The newest entry of the change log by which an owner asked this; null where there is none to be read. */
export function newestEntry(kind: RequestKind, context: Log): ChangeEntry | null {
  if (kind === "install") return standing(context, "status", "planned");
  return kind === "retire" ? standing(context, "status", "decommissioning") : standing(context, "desiredAction", kind);
}

function judgeEntry(
  kind: RequestKind,
  entry: ChangeEntry | null,
  last: { id: string; atMs: number } | null,
  context: RequestContext & { readonly heldBeforeMs: number | null },
): Asked {
  if (context.changes === null) return { state: "unknown", kind };
  if (entry === null)
    return { state: "held", kind, entry, reason: "NetBox's change log has no entry for it by an owner" };
  if (last !== null && (entry.atMs <= last.atMs || entry.requestId === last.id))
    return { state: "old", kind, id: entry.requestId };
  if (answered(kind, entry, context).length > 0) return { state: "old", kind, id: entry.requestId };
  if (entry.atMs <= context.epochMs)
    return { state: "held", kind, entry, reason: "it is older than fleetd's memory of this fleet" };
  if (context.heldBeforeMs !== null && entry.atMs <= context.heldBeforeMs)
    return { state: "held", kind, entry, reason: "NetBox went back in time since, and it may have been taken back" };
  return { state: "fresh", request: { kind, id: entry.requestId, atMs: entry.atMs } };
}

function oldOf(kind: RequestKind, entry: ChangeEntry | null): Asked {
  return { state: "old", kind, id: entry?.requestId ?? "" };
}

/** True where the device may get a run, or its machine a code, so that what it shares with others counts. */
export function asksForRun(device: Device, { run }: DeviceRecord, trigger: "pass" | "confirm"): boolean {
  // Once enabled, a run is not stopped by it; a code for it is.
  if (isUnfinished(run)) return run.phase === "starting" || trigger === "confirm";
  const { status, desiredAction } = device;
  return desiredAction !== null || status === "planned" || status === "decommissioning";
}

/** True where the change log must be read to plan the device: what was read of this very row before still stands. */
export function needsChanges(device: Device, record: DeviceRecord): boolean {
  if (needsAcceptance(device, record)) return true;
  return isLogWanted(device, record) && record.log?.row !== device.lastUpdated;
}

/** The change log as it was read of this very row before; empty where it was not, or is of no use. */
export function keptChanges(device: Device, record: DeviceRecord): readonly ChangeEntry[] {
  return record.log?.row === device.lastUpdated ? record.log.entries : [];
}

/** Where EKs count the log is read itself: kept so many times over, a large field would make the record too large to write. */
function withoutEks(entry: ChangeEntry): ChangeEntry {
  const of = (values: ChangeEntry["before"]) => values && { ...values, approvedEks: null };
  return { ...entry, before: of(entry.before), after: of(entry.after) };
}

/**
 * The record with what its row's change log says of requests: each row is moved by an entry of the log, so that a row
 * that has not moved has no newer one, and waiting costs no call.
 */
export function withLog(
  device: Device,
  record: DeviceRecord,
  { changes, netboxUser }: Pick<RequestContext, "changes" | "netboxUser">,
): DeviceRecord {
  if (changes === null || !isLogWanted(device, record) || record.log?.row === device.lastUpdated) return record;
  const context = { changes, netboxUser };
  const action = newestChange(context, "desiredAction");
  const status = newestChange(context, "status");
  const found = [
    action,
    ...answered("provision", action, context),
    status,
    ...answered("install", status, context),
    newestSet(context, "status", "planned"),
    newestSet(context, "status", "active"),
  ];
  // Newest first, as they were read.
  const entries = changes.filter((entry) => found.includes(entry)).map(withoutEks);
  return { ...record, log: { row: device.lastUpdated, entries } };
}

function isReinstall(kind: RunKind): boolean {
  return kind === "provision" || kind === "wipe";
}

function isLogWanted(device: Device, record: DeviceRecord): boolean {
  if (device.desiredAction !== null) return true;
  // Row 34: whether the status active under an install is its owner's word.
  if (device.status === "active") return isUnfinished(record.run) && isReinstall(record.run.kind);
  if (device.status === "planned") return record.run === null || record.run.phase === "ended";
  return device.status === "decommissioning" && (record.retire === null || record.retire.offlineAtMs !== null);
}

/** What `desired_action` asks. */
export function askedAction(device: Device, record: DeviceRecord, context: RequestContext): Asked {
  const kind = device.desiredAction === null ? undefined : ACTIONS[device.desiredAction];
  if (kind === undefined) return { state: "none" };
  const entry = standing(context, "desiredAction", kind);
  if (isOldBySecondCopy(entry, device, record, kind === "attest")) return oldOf(kind, entry);
  return judge(
    kind,
    entry,
    kind === "attest" ? record.lastRequests.attest : record.lastRequests.install,
    context,
    record,
  );
}

/** True where an owner set planned after the last install, provision or wipe that was carried out. */
export function isPlannedAnew(record: DeviceRecord, context: RequestContext): boolean {
  const entry = newestSet(context, "status", "planned");
  return entry !== null && entry.atMs > (record.lastRequests.install?.atMs ?? 0);
}

/** What status planned, set by an owner (creation too), asks: one first install, at admission only. */
export function askedInstall(device: Device, record: DeviceRecord, context: RequestContext): Asked {
  if (device.status !== "planned") return { state: "none" };
  const entry = standing(context, "status", "planned");
  // Planned by fleetd itself, or by an entry that is pruned: any install, provision or wipe since has used it up.
  const isUsedUp = context.changes !== null && entry === null && record.lastRequests.install !== null;
  if (isUsedUp || isOldBySecondCopy(entry, device, record, false)) return oldOf("install", entry);
  return judge("install", entry, record.lastRequests.install, context, record);
}

/** What status decommissioning asks. */
export function askedRetire(device: Device, record: DeviceRecord, context: RequestContext): Asked {
  if (device.status !== "decommissioning") return { state: "none" };
  const entry = standing(context, "status", "decommissioning");
  const { retire, erasedFor } = record;
  const closed = retire?.offlineAtMs == null ? null : retire.request;
  const last = closed === null || (erasedFor !== null && erasedFor.atMs > closed.atMs) ? erasedFor : closed;
  return judge("retire", entry, last, context, record);
}
