import { z } from "zod";
import { PortError } from "../../ports/error.ts";

/** A selection in every form that NetBox gives it: null, "", bare (to 4.6), {value,label} (from 4.7). */
export const selection = z
  .union([z.null(), z.string(), z.object({ value: z.string().nullable() })])
  .optional()
  .transform((read) => {
    const value = typeof read === "object" ? read?.value : read;
    return value === undefined || value === "" ? null : value;
  });

const address = z.object({ address: z.string() }).nullable();

export const deviceRow = z.object({
  id: z.int(),
  name: z.string().nullable(),
  serial: z.string(),
  status: selection,
  role: z.object({ slug: z.string() }),
  primary_ip4: address,
  primary_ip6: address,
  oob_ip: address,
  custom_fields: z.record(z.string(), z.unknown()),
  last_updated: z.string().min(1),
});
export type DeviceRow = z.output<typeof deviceRow>;
/** The read names no more than the schema: a tenth of the time of a whole row. */
export const DEVICE_FIELDS = Object.keys(deviceRow.shape).join(",");

const macBrief = z.object({ id: z.int(), mac_address: z.string() });

export const interfaceRow = z.object({
  id: z.int(),
  name: z.string(),
  label: z.string(),
  mgmt_only: z.boolean(),
  device: z.object({ id: z.int(), name: z.string().nullable() }),
  primary_mac_address: macBrief.nullable(),
  mac_addresses: z.array(macBrief),
  connected_endpoints_type: z.string().nullish(),
  connected_endpoints: z
    .array(z.object({ id: z.int(), name: z.string().optional(), device: z.object({ id: z.int() }).optional() }))
    .nullable(),
  last_updated: z.string().min(1),
});
export type InterfaceRow = z.output<typeof interfaceRow>;
export const INTERFACE_FIELDS = Object.keys(interfaceRow.shape).join(",");

const changedData = z.object({ status: selection, custom_fields: z.record(z.string(), z.unknown()).nullish() });

export const changeRow = z.object({
  id: z.int(),
  time: z.iso.datetime({ offset: true }),
  user_name: z.string(),
  request_id: z.string(),
  action: selection,
  changed_object_type: z.string(),
  changed_object_id: z.int(),
  prechange_data: changedData.nullable(),
  postchange_data: changedData.nullable(),
});
export const CHANGE_FIELDS = Object.keys(changeRow.shape).join(",");

export const journalRow = z.object({
  id: z.int(),
  assigned_object_type: z.string(),
  assigned_object_id: z.int(),
  comments: z.string(),
});
export const JOURNAL_FIELDS = Object.keys(journalRow.shape).join(",");

export const prefixRow = z.object({
  id: z.int(),
  prefix: z.string(),
  custom_fields: z.record(z.string(), z.unknown()),
});
export const PREFIX_FIELDS = Object.keys(prefixRow.shape).join(",");

/** Reads a custom field that is text or a selection; anything else in it reads as null. */
export function textField(fields: Readonly<Record<string, unknown>>, name: string): string | null {
  const text = selection.safeParse(fields[name]);
  return text.success ? text.data : null;
}

/** An answer of another shape is no answer: `unavailable`, with the path of the first fault and never its value. */
export function read<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path.join(".") ?? "";
  throw new PortError("unavailable", "netbox", `${what}: unexpected shape at "${path}"`);
}

export const version = z.object({ "netbox-version": z.string() });
