import type { AcceptedRequest, RequestKind } from "./accepted-request.ts";
import type { ChangeEntry, Device } from "./device.ts";
import { withJournal } from "./journal.ts";
import { momentMicros } from "./moment.ts";
import type { DeviceRecord } from "./record.ts";
import { type Asked, askedAction, askedInstall, askedRetire, type RequestContext } from "./request.ts";

/** True while the device asks for what was accepted. */
function isStillAsked(device: Device, { kind }: AcceptedRequest): boolean {
  if (kind === "install") return device.status === "planned";
  return kind === "retire" ? device.status === "decommissioning" : device.desiredAction === kind;
}

const NOTHING: Asked = { state: "none" };

/** What the device asks now, as the planner sees it: what is behind that waits, and is no part of a word for it. */
function asks(device: Device, record: DeviceRecord, context: RequestContext): Asked {
  const { retire, run } = record;
  if (device.status === "decommissioning")
    return retire === null || retire.offlineAtMs !== null ? askedRetire(device, record, context) : NOTHING;
  const action = askedAction(device, record, context);
  if (action.state !== "none" && action.state !== "old") return action;
  return run === null || run.phase === "ended" ? askedInstall(device, record, context) : NOTHING;
}

/**
 * When a request without an entry was asked, by NetBox's clock as all others: fleetd's may be ahead, and what an owner asks
 * next would be older than it. After the last one of its kind in any case, since it is to be carried out.
 */
function askedAtMs({ lastUpdated }: Device, { lastRequests, retire }: DeviceRecord, kind: RequestKind): number {
  const own = kind === "retire" ? retire?.request : kind === "attest" ? lastRequests.attest : lastRequests.install;
  return Math.max(Math.floor((momentMicros(lastUpdated) ?? 0) / 1000), (own?.atMs ?? 0) + 1);
}

export type Acceptance =
  | { readonly ok: true; readonly record: DeviceRecord; readonly accepted: AcceptedRequest; readonly isNew: boolean }
  | { readonly ok: false; readonly detail: string };

/**
 * The record with an administrator's word for the request that is held: for the change-log entry, or where there is none
 * for the row as it is. The same word again changes nothing.
 * @see spec/30-reconcile.md "Requests"
 */
export function acceptRequest(
  device: Device,
  record: DeviceRecord,
  context: RequestContext,
  word: { readonly kind: RequestKind | null; readonly by: string; readonly atMs: number; readonly madeId: string },
): Acceptance {
  const asked = asks(device, record, context);
  const none = { ok: false, detail: `${device.name} has no held ${word.kind ?? "request"} to accept` } as const;
  const { acceptedRequest: standing } = record;
  if (word.kind !== null && kindOf(asked) !== word.kind) return none;
  if (asked.state === "fresh" && standing !== null && asked.request.id === standing.request.id)
    return { ok: true, record, accepted: standing, isNew: false };
  if (asked.state !== "held" && asked.state !== "unknown") return none;
  if (standing?.kind === asked.kind && standing.row === device.lastUpdated)
    return { ok: true, record, accepted: standing, isNew: false };
  const entry = asked.state === "held" ? asked.entry : null;
  const accepted: AcceptedRequest = {
    kind: asked.kind,
    request:
      entry === null
        ? { id: word.madeId, atMs: askedAtMs(device, record, asked.kind) }
        : { id: entry.requestId, atMs: entry.atMs },
    row: entry === null ? device.lastUpdated : null,
    takenUp: false,
    by: word.by,
    atMs: word.atMs,
  };
  const said = withJournal(
    { ...record, acceptedRequest: accepted },
    [
      {
        level: "warning",
        code: "request-accepted",
        text: `${asked.kind} accepted by ${word.by}: the held request is carried out once`,
        about: accepted.request.id,
      },
    ],
    word.atMs,
  );
  return { ok: true, record: said, accepted, isNew: true };
}

function kindOf(asked: Asked): RequestKind | null {
  if (asked.state === "none") return null;
  return asked.state === "fresh" ? asked.request.kind : asked.kind;
}

/**
 * The record with what became of an administrator's word: dropped once the device asks for something else or an owner
 * asked anew; taken up where the row is still the one that was accepted, and void where it moved before.
 */
export function withAcceptedRequest(
  device: Device,
  record: DeviceRecord,
  newestEntry: (kind: RequestKind) => ChangeEntry | null,
  nowMs: number,
): DeviceRecord {
  const { acceptedRequest: word } = record;
  if (word === null) return record;
  const entry = newestEntry(word.kind);
  // By id, as NetBox's clock may be ahead of fleetd's.
  const isOvertaken = entry !== null && entry.requestId !== word.request.id && entry.atMs > word.atMs;
  if (!isStillAsked(device, word) || isOvertaken) return { ...record, acceptedRequest: null };
  if (word.row === null || word.takenUp) return record;
  if (word.row === device.lastUpdated) return { ...record, acceptedRequest: { ...word, takenUp: true } };
  return withJournal(
    { ...record, acceptedRequest: null },
    [
      {
        level: "warning",
        code: "acceptance-void",
        text: `the acceptance of ${word.kind} is void: the device was changed in NetBox before it was taken up; accept again`,
        about: word.request.id,
      },
    ],
    nowMs,
  );
}
