import type { ChangedValues, ChangeEntry, JournalLevel } from "../../fleet/device.ts";
import type { NetBoxClient } from "./client.ts";
import type { FieldNames } from "./field-names.ts";
import { CHANGE_FIELDS, changeRow, JOURNAL_FIELDS, journalRow, read, textField } from "./schema.ts";

const DEVICE_TYPE = "dcim.device";
const MAX_CHANGES = 200;
type ChangedNames = Pick<FieldNames, "desiredAction" | "approvedEks">;

/** Adds one entry. NetBox knows no idempotency key: the caller looks for its mark before it repeats. */
export async function addJournal(client: NetBoxClient, id: number, level: JournalLevel, text: string): Promise<void> {
  await client.send("POST", "/api/extras/journal-entries/", {
    assigned_object_type: DEVICE_TYPE,
    assigned_object_id: id,
    kind: level,
    comments: text,
  });
}

/** Tells whether an entry of the device holds the mark; each row is checked here. */
export async function journalHas(client: NetBoxClient, id: number, mark: string): Promise<boolean> {
  const rows = await client.list("/api/extras/journal-entries/", [
    ["assigned_object_type", DEVICE_TYPE],
    ["assigned_object_id", id],
    ["q", mark],
    ["fields", JOURNAL_FIELDS],
  ]);
  return rows
    .map((row) => read(journalRow, row, "journal"))
    .some(
      (row) => row.assigned_object_type === DEVICE_TYPE && row.assigned_object_id === id && row.comments.includes(mark),
    );
}

/** The device's change log, newest first, at most 200 entries. @see vectors/netbox/write.json "change log of one request" */
export async function readChanges(client: NetBoxClient, id: number, names: ChangedNames): Promise<ChangeEntry[]> {
  const body = await client.get("/api/core/object-changes/", [
    ["changed_object_type", DEVICE_TYPE],
    ["changed_object_id", id],
    ["ordering", "-time"],
    ["limit", MAX_CHANGES],
    ["fields", CHANGE_FIELDS],
  ]);
  return read(changeRow.array(), resultsOf(body), "change log")
    .filter((row) => row.changed_object_type === DEVICE_TYPE && row.changed_object_id === id)
    .sort((a, b) => Date.parse(b.time) - Date.parse(a.time) || b.id - a.id)
    .map((row) => ({
      requestId: row.request_id,
      atMs: Date.parse(row.time),
      user: row.user_name,
      action: row.action === "create" || row.action === "delete" ? row.action : "update",
      before: row.action === "create" ? null : values(row.prechange_data, names),
      after: row.action === "delete" ? null : values(row.postchange_data, names),
    }));
}

function resultsOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "results" in body ? body.results : undefined;
}

function values(
  data: { status: string | null; custom_fields?: Record<string, unknown> | null | undefined } | null,
  names: ChangedNames,
): ChangedValues | null {
  if (data === null) return null;
  const fields = data.custom_fields ?? {};
  return {
    status: data.status,
    desiredAction: textField(fields, names.desiredAction),
    approvedEks: fields[names.approvedEks] ?? null,
  };
}
