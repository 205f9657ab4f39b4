import { choice, choices } from "./choices.ts";
import type { Row, TableName, World } from "./world.ts";

/** What an answer is made for: its world and the scheme and host of its URLs ("" in webhooks). */
export interface Scene {
  readonly world: World;
  readonly base: string;
}

const paths: Partial<Record<TableName, string>> = {
  "ip-addresses": "ipam",
  prefixes: "ipam",
  "journal-entries": "extras",
  "custom-fields": "extras",
  "custom-field-choice-sets": "extras",
  webhooks: "extras",
  "event-rules": "extras",
  users: "users",
  permissions: "users",
  tokens: "users",
  "object-changes": "core",
};

export function pathOf(table: TableName): string {
  return `/${paths[table] ?? "dcim"}/${table}/`;
}

export function urls(scene: Scene, table: TableName, row: Row) {
  return { url: `${scene.base}/api${pathOf(table)}${row.id}/`, display_url: `${scene.base}${pathOf(table)}${row.id}/` };
}

/** `display` of an object. */
export function displayOf(table: TableName, row: Row): string {
  if (table === "cables") return `#${row.id}`;
  if (table === "journal-entries") {
    return `${row.created.slice(0, 16).replace("T", " ")} (${choice(choices.journalKind, row.kind)?.label})`;
  }
  return String(
    row.mac_address ?? row.address ?? row.prefix ?? row.model ?? row.name ?? row.username ?? row.key ?? row.id,
  );
}

/** The short form by which one object stands in another. */
export function brief(scene: Scene, table: TableName, id: unknown): Record<string, unknown> | null {
  const row = typeof id === "number" ? scene.world.tables[table].get(id) : undefined;
  if (row === undefined) return null;
  const head = { id: row.id, url: urls(scene, table, row).url, display: displayOf(table, row) };
  const named = { ...head, name: row.name, slug: row.slug, description: row.description ?? "" };
  switch (table) {
    case "devices":
      return { ...head, name: row.name, description: row.description };
    case "device-types":
      return {
        ...head,
        manufacturer: brief(scene, "manufacturers", row.manufacturer),
        model: row.model,
        slug: row.slug,
        description: "",
        device_count: count(scene, "devices", "device_type", row.id),
      };
    case "device-roles":
      return { ...named, device_count: 0, virtualmachine_count: 0, _depth: 0 };
    case "interfaces":
      return {
        ...head,
        device: brief(scene, "devices", row.device),
        name: row.name,
        description: row.description,
        cable: brief(scene, "cables", row.cable),
        _occupied: row.cable !== null,
      };
    case "cables":
      return { ...head, label: row.label, description: row.description };
    case "users":
      return { ...head, username: row.username };
    case "mac-addresses":
      return { ...head, mac_address: row.mac_address, description: row.description };
    case "ip-addresses":
      return {
        ...head,
        family: family(row.address),
        address: row.address,
        nat_inside: null,
        nat_outside: [],
        dns_name: row.dns_name,
        description: row.description,
      };
    case "custom-field-choice-sets":
      return {
        ...head,
        name: row.name,
        description: "",
        choices_count: Array.isArray(row.extra_choices) ? row.extra_choices.length : 0,
      };
    default:
      return named;
  }
}

/** Rows by one field, made once for an answer: a page of 1,000 must not scan a table 1,000 times. */
const groups = new WeakMap<Scene, Map<string, Map<unknown, Row[]>>>();
export function group(scene: Scene, table: TableName, field: string, value: unknown): readonly Row[] {
  const made = groups.get(scene) ?? new Map<string, Map<unknown, Row[]>>();
  groups.set(scene, made);
  const key = `${table}.${field}`;
  let rows = made.get(key);
  if (rows === undefined) {
    rows = new Map();
    for (const row of scene.world.tables[table].values()) {
      const same = rows.get(row[field]);
      if (same === undefined) rows.set(row[field], [row]);
      else same.push(row);
    }
    made.set(key, rows);
  }
  return rows.get(value) ?? [];
}

export function count(scene: Scene, table: TableName, field: string, id: number): number {
  return group(scene, table, field, id).length;
}

/** IPv4 or IPv6, as NetBox tells it of an address. */
export function family(address: unknown) {
  return String(address).includes(":") ? { value: 6, label: "IPv6" } : { value: 4, label: "IPv4" };
}
