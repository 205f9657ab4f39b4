import type { Device, DevicePatch } from "../../fleet/device.ts";
import { PortError } from "../../ports/error.ts";
import { complete, type Reader, readRow } from "./devices.ts";
import type { FieldNames } from "./field-names.ts";
import { type DeviceRow, deviceRow, read, selection, textField } from "./schema.ts";

/** NetBox's ETag of an object as it can be made from a list row. @see facts/netbox.md, "Reading" */
export function etag(lastUpdated: string): string {
  return `W/"${lastUpdated.replace(/Z$/, "+00:00")}"`;
}

/**
 * Writes what differs, under If-Match of the read that the decision was made on. A patch that changes nothing is not
 * sent: NetBox would move `last_updated` and send a webhook for it.
 * @throws PortError conflict where the device changed since `lastUpdated`, not-found where it is gone
 */
export async function patchDevice(
  reader: Reader,
  id: number,
  patch: DevicePatch,
  lastUpdated: string,
): Promise<Device> {
  const row = await readRow(reader, id);
  if (row === null) throw new PortError("not-found", "netbox", `device ${id}`);
  if (row.last_updated !== lastUpdated) {
    throw new PortError("conflict", "netbox", `device ${id}: changed since it was read`);
  }
  const body = changed(row, patch, reader.names);
  if (body === null) return complete(reader, row);
  // No `fields=` on a write, ever: body fields that it does not name would be dropped behind a 200.
  const answer = await reader.client.send("PATCH", `/api/dcim/devices/${id}/`, body, etag(lastUpdated));
  const written = read(deviceRow, answer, `device ${id}`);
  if (changed(written, patch, reader.names) !== null) {
    throw new PortError("unavailable", "netbox", `device ${id}: the write was answered but did not hold`);
  }
  return complete(reader, written);
}

interface PatchBody {
  readonly status?: string;
  readonly custom_fields?: Readonly<Record<string, unknown>>;
}

/** The bare body that makes the row as the patch wants it, or null where it is so already. */
function changed(row: DeviceRow, patch: DevicePatch, names: FieldNames): PatchBody | null {
  const { status, ...fields } = patch;
  const differing: Record<string, unknown> = {};
  for (const [key, wanted] of Object.entries(fields)) {
    const name = names[key as keyof typeof fields];
    if (wanted !== undefined && !holds(key, row.custom_fields, name, wanted)) differing[name] = wanted;
  }
  const custom = Object.keys(differing).length > 0 ? { custom_fields: differing } : {};
  const body = { ...(status === undefined || status === row.status ? {} : { status }), ...custom };
  return Object.keys(body).length === 0 ? null : body;
}

function holds(key: string, fields: Readonly<Record<string, unknown>>, name: string, wanted: unknown): boolean {
  if (key === "fleetRun" || key === "fleetIdentity") return canonical(fields[name] ?? null) === canonical(wanted);
  const current = textField(fields, name);
  // NetBox keeps a date and time as text, but writes its fraction with six digits.
  if (key === "attestedAt" && current !== null) return Date.parse(current) === Date.parse(String(wanted));
  return current === selection.parse(wanted);
}

/** JSON with sorted keys: PostgreSQL's jsonb keeps values but not the order of keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
