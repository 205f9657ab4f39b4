import { fieldsOf, fieldsWritten } from "./custom-fields.ts";
import { models } from "./models.ts";
import type { Model } from "./rules.ts";
import { insert, type Row, save, stamp, type World } from "./world.ts";

/** What a write came to: the faults of a 400, or the stored row before and after. */
export type Written =
  | { readonly faults: Record<string, unknown> }
  | { readonly before: Row | null; readonly after: Row };

/** Parses a body over an old row (or over the defaults) into the row that a save would store. */
export function parseBody(
  world: World,
  model: Model,
  body: Readonly<Record<string, unknown>>,
  old: Row | null,
): { readonly faults: Record<string, unknown> } | { readonly row: Record<string, unknown> } {
  const row: Record<string, unknown> = { ...(old ?? structuredClone(model.defaults)) };
  const faults: Record<string, unknown> = {};
  if (old === null) for (const name of model.required) if (!(name in body)) faults[name] = ["This field is required."];
  for (const [name, rule] of Object.entries(model.rules)) {
    if (!(name in body)) continue;
    const parsed = rule(world, body[name]);
    if ("fault" in parsed) faults[name] = parsed.fault;
    else row[model.renamed?.[name] ?? name] = parsed.value;
  }
  if (Object.keys(faults).length > 0) return { faults };
  if ("custom_fields" in body && "custom_fields" in model.defaults) {
    const fields = fieldsWritten(world, model.type, row.custom_fields, body.custom_fields);
    if ("fault" in fields) return { faults: fields.fault };
    row.custom_fields = fields.value;
  }
  const whole = model.check?.(world, row) ?? null;
  return whole === null ? { row } : { faults: whole };
}

/** Creates one object. */
export function create(world: World, model: Model, body: Readonly<Record<string, unknown>>): Written {
  const parsed = parseBody(world, model, body, null);
  if ("faults" in parsed) return parsed;
  // A field that was never set is not stored at all, so snapshots do not have it.
  const unset = fieldsOf(world, model.type)
    .filter((field) => (field.default ?? null) !== null)
    .map((field) => [field.name, field.default]);
  const custom =
    "custom_fields" in model.defaults ? { ...Object.fromEntries(unset), ...Object(parsed.row.custom_fields) } : null;
  const row = { ...parsed.row, ...model.made?.() };
  const after = insert(world, model.table, custom === null ? row : { ...row, custom_fields: custom });
  if (model.table === "cables") connect(world, [after.a, after.b], after.id);
  if (model.table === "devices") addInterfaces(world, after);
  return { before: null, after };
}

/** Those of its type, as each new device gets them. */
function addInterfaces(world: World, device: Row): void {
  for (const { device_type: type, name, label, type: kind, mgmt_only } of world.tables["interface-templates"].values())
    if (type === device.device_type)
      insert(world, "interfaces", {
        ...structuredClone(models.interfaces?.defaults),
        ...{ device: device.id, name, label, type: kind, mgmt_only },
      });
}

/** Merges the body into `old` (as it was loaded, which may be a while ago) and saves the whole row. */
export function update(world: World, model: Model, old: Row, body: Readonly<Record<string, unknown>>): Written {
  const parsed = parseBody(world, model, body, old);
  if ("faults" in parsed) return parsed;
  const after: Row = { ...parsed.row, id: old.id, created: old.created, last_updated: stamp() };
  save(world, model.table, after);
  return { before: old, after };
}

/** Deletes one object with what hangs on it. */
export function remove(world: World, model: Model, row: Row): void {
  world.tables[model.table].delete(row.id);
  if (model.table === "devices") {
    for (const each of [...world.tables.interfaces.values()]) if (each.device === row.id) removeInterface(world, each);
    for (const entry of [...world.tables["journal-entries"].values()]) {
      if (entry.assigned_object_id === row.id) world.tables["journal-entries"].delete(entry.id);
    }
  }
  if (model.table === "interfaces") removeInterface(world, row);
  if (model.table === "cables") connect(world, [row.a, row.b], null);
  if (model.table === "mac-addresses") unset(world, "interfaces", "primary_mac_address", row.id);
  if (model.table === "ip-addresses") {
    for (const field of ["primary_ip4", "primary_ip6", "oob_ip"]) unset(world, "devices", field, row.id);
  }
}

function removeInterface(world: World, row: Row): void {
  world.tables.interfaces.delete(row.id);
  const cable = world.tables.cables.get(Number(row.cable));
  if (cable !== undefined) {
    world.tables.cables.delete(cable.id);
    connect(world, [cable.a, cable.b], null);
  }
  for (const table of ["mac-addresses", "ip-addresses"] as const) {
    for (const each of [...world.tables[table].values()]) {
      if (each.assigned_object_id === row.id) world.tables[table].delete(each.id);
    }
  }
}

function connect(world: World, ends: readonly unknown[], cable: number | null): void {
  for (const end of ends) {
    const row = world.tables.interfaces.get(Number(end));
    if (row !== undefined) world.tables.interfaces.set(row.id, { ...row, cable, last_updated: stamp() });
  }
}

function unset(world: World, table: "interfaces" | "devices", field: string, id: number): void {
  for (const row of world.tables[table].values()) {
    if (row[field] === id) save(world, table, { ...row, [field]: null, last_updated: stamp() });
  }
}
