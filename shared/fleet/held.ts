import type { AcceptedRequest, RequestKind } from "./accepted-request.ts";
import type { ChangeEntry, Device } from "./device.ts";
import { withJournal } from "./journal.ts";
import type { DeviceRecord } from "./record.ts";
import { type Asked, askedAction, askedInstall, askedRetire, type RequestContext } from "./request.ts";

/** True while the device asks for what was accepted. */
function isStillAsked(device: Device, { kind }: AcceptedRequest): boolean {
  if (kind === "install") return device.status === "planned";
  return kind === "retire" ? device.status === "decommissioning" : device.desiredAction === kind;
}

/** What the device asks, the first thing first: what is behind it waits until that is done. */
function asks(device: Device, record: DeviceRecord, context: RequestContext): readonly Asked[] {
  if (device.status === "decommissioning")
    return record.retire === null || record.retire.offlineAtMs !== null ? [askedRetire(device, record, context)] : [];
  return [askedAction(device, record, context), askedInstall(device, record, context)];
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
  const all = asks(device, record, context).filter((one) => word.kind === null || kindOf(one) === word.kind);
  const held = all.find((one) => one.state === "held" || one.state === "unknown");
  if (held === undefined) {
    const { acceptedRequest: standing } = record;
    const stands = all.some((one) => one.state === "fresh" && one.request.id === standing?.request.id);
    if (standing !== null && stands) return { ok: true, record, accepted: standing, isNew: false };
    return { ok: false, detail: `${device.name} has no held ${word.kind ?? "request"} to accept` };
  }
  const entry = held.state === "held" ? held.entry : null;
  const accepted: AcceptedRequest = {
    kind: held.kind,
    request: entry === null ? { id: word.madeId, atMs: word.atMs } : { id: entry.requestId, atMs: entry.atMs },
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
        text: `${held.kind} accepted by ${word.by}: the held request is carried out once`,
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
  if (!isStillAsked(device, word) || (entry !== null && entry.atMs > word.atMs))
    return { ...record, acceptedRequest: null };
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
