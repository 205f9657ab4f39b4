import { choice, choices } from "./choices.ts";
import { fieldsRead } from "./custom-fields.ts";
import type { Row, TableName, World } from "./world.ts";

/** What an answer is made for: its world and the scheme and host of its URLs ("" in webhooks). */
export interface Scene {
  readonly world: World;
  readonly base: string;
}
export type View = (scene: Scene, row: Row) => Record<string, unknown>;

const paths: Partial<Record<TableName, string>> = {
  "ip-addresses": "ipam",
  prefixes: "ipam",
  "journal-entries": "extras",
  "custom-fields": "extras",
  "custom-field-choice-sets": "extras",
  webhooks: "extras",
  "event-rules": "extras",
  "object-changes": "core",
};

export function pathOf(table: TableName): string {
  return `/${paths[table] ?? "dcim"}/${table}/`;
}

function urls(scene: Scene, table: TableName, row: Row) {
  return { url: `${scene.base}/api${pathOf(table)}${row.id}/`, display_url: `${scene.base}${pathOf(table)}${row.id}/` };
}

/** `display` of an object. */
export function displayOf(table: TableName, row: Row): string {
  if (table === "cables") return `#${row.id}`;
  if (table === "journal-entries") {
    return `${row.created.slice(0, 16).replace("T", " ")} (${choice(choices.journalKind, row.kind)?.label})`;
  }
  return String(row.mac_address ?? row.address ?? row.prefix ?? row.model ?? row.name ?? row.id);
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
function group(scene: Scene, table: TableName, field: string, value: unknown): readonly Row[] {
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

function count(scene: Scene, table: TableName, field: string, id: number): number {
  return group(scene, table, field, id).length;
}

function family(address: unknown) {
  return String(address).includes(":") ? { value: 6, label: "IPv6" } : { value: 4, label: "IPv4" };
}

function head(scene: Scene, table: TableName, row: Row) {
  return { id: row.id, ...urls(scene, table, row), display: displayOf(table, row) };
}

function tail(row: Row, customFields: unknown = {}) {
  return { tags: row.tags ?? [], custom_fields: customFields, created: row.created, last_updated: row.last_updated };
}

const device: View = (scene, row) => {
  const address = (id: unknown) => brief(scene, "ip-addresses", id);
  const { id: _id, created: _created, last_updated: _updated, custom_fields: _fields, tags: _tags, ...raw } = row;
  return {
    ...head(scene, "devices", row),
    ...raw,
    device_type: brief(scene, "device-types", row.device_type),
    role: brief(scene, "device-roles", row.role),
    site: brief(scene, "sites", row.site),
    face: null,
    parent_device: null,
    status: choice(choices.deviceStatus, row.status),
    primary_ip: address(row.primary_ip4 ?? row.primary_ip6),
    primary_ip4: address(row.primary_ip4),
    primary_ip6: address(row.primary_ip6),
    oob_ip: address(row.oob_ip),
    config_context: {},
    interface_count: count(scene, "interfaces", "device", row.id),
    ...tail(row, fieldsRead(scene.world, "dcim.device", row)),
  };
};

const networkInterface: View = (scene, row) => {
  const macs = group(scene, "mac-addresses", "assigned_object_id", row.id);
  const cable = typeof row.cable === "number" ? scene.world.tables.cables.get(row.cable) : undefined;
  const far = cable === undefined ? [] : [cable.a, cable.b].filter((end) => end !== row.id);
  const ends = far.map((end) => brief(scene, "interfaces", end));
  const { id: _id, created: _created, last_updated: _updated, cable: _cable, tags: _tags, ...raw } = row;
  return {
    ...head(scene, "interfaces", row),
    ...raw,
    device: brief(scene, "devices", row.device),
    type: choice(choices.interfaceType, row.type),
    mac_address: brief(scene, "mac-addresses", row.primary_mac_address)?.mac_address ?? null,
    primary_mac_address: brief(scene, "mac-addresses", row.primary_mac_address),
    mac_addresses: macs.map((mac) => brief(scene, "mac-addresses", mac.id)),
    cable: brief(scene, "cables", row.cable),
    cable_end: cable === undefined ? "" : cable.a === row.id ? "A" : "B",
    link_peers: ends,
    link_peers_type: cable === undefined ? null : "dcim.interface",
    connected_endpoints: cable === undefined ? null : ends,
    connected_endpoints_type: cable === undefined ? null : "dcim.interface",
    connected_endpoints_reachable: cable !== undefined,
    count_ipaddresses: count(scene, "ip-addresses", "assigned_object_id", row.id),
    count_fhrp_groups: 0,
    _occupied: cable !== undefined,
    ...tail(row),
  };
};

const cable: View = (scene, row) => {
  const end = (id: unknown) => [
    { object_type: "dcim.interface", object_id: id, object: brief(scene, "interfaces", id) },
  ];
  const { a: _a, b: _b, id: _id, ...raw } = row;
  return {
    ...head(scene, "cables", row),
    ...raw,
    a_terminations: end(row.a),
    b_terminations: end(row.b),
    status: choice(choices.cableStatus, row.status),
    ...tail(row),
  };
};

function assigned(scene: Scene, row: Row): Record<string, unknown> | null {
  if (row.assigned_object_type === "dcim.device") return brief(scene, "devices", row.assigned_object_id);
  return row.assigned_object_type === "dcim.interface" ? brief(scene, "interfaces", row.assigned_object_id) : null;
}

const macAddress: View = (scene, row) => ({
  ...head(scene, "mac-addresses", row),
  ...row,
  assigned_object: assigned(scene, row),
  is_primary: count(scene, "interfaces", "primary_mac_address", row.id) > 0,
  ...tail(row),
});

const ipAddress: View = (scene, row) => ({
  ...head(scene, "ip-addresses", row),
  ...row,
  family: family(row.address),
  status: choice(choices.addressStatus, row.status),
  role: null,
  assigned_object: assigned(scene, row),
  nat_outside: [],
  ...tail(row),
});

const prefix: View = (scene, row) => ({
  ...head(scene, "prefixes", row),
  ...row,
  family: family(row.prefix),
  status: choice(choices.addressStatus, row.status),
  children: 0,
  _depth: 0,
  ...tail(row, fieldsRead(scene.world, "ipam.prefix", row)),
});

const journalEntry: View = (scene, row) => ({
  ...head(scene, "journal-entries", row),
  ...row,
  assigned_object: assigned(scene, row),
  kind: choice(choices.journalKind, row.kind),
  ...tail(row),
});

const objectChange: View = (scene, row) => {
  const { created: _created, last_updated: _updated, ...raw } = row;
  return {
    ...head(scene, "object-changes", row),
    ...raw,
    display: `${row.object_repr} ${row.action}d by ${row.user_name}`,
    user: { id: 1, url: `${scene.base}/api/users/users/1/`, display: row.user_name, username: row.user_name },
    action: choice(choices.changeAction, row.action),
    changed_object: row.changed_object_type === "dcim.device" ? brief(scene, "devices", row.changed_object_id) : null,
  };
};

const customField: View = (scene, row) => ({
  ...head(scene, "custom-fields", row),
  ...row,
  type: choice(choices.fieldType, row.type),
  filter_logic: choice(choices.filterLogic, row.filter_logic),
  choice_set: brief(scene, "custom-field-choice-sets", row.choice_set),
});

function plain(table: TableName): View {
  return (scene, row) => ({
    ...head(scene, table, row),
    ...row,
    ...(table === "device-types" ? { manufacturer: brief(scene, "manufacturers", row.manufacturer) } : {}),
    ...(table === "sites" ? { status: choice(choices.siteStatus, row.status) } : {}),
    ...tail(row),
  });
}

const special: Partial<Record<TableName, View>> = {
  devices: device,
  interfaces: networkInterface,
  cables: cable,
  "mac-addresses": macAddress,
  "ip-addresses": ipAddress,
  prefixes: prefix,
  "journal-entries": journalEntry,
  "object-changes": objectChange,
  "custom-fields": customField,
};

/** The whole form of an object of the table. */
export function viewOf(table: TableName): View {
  return special[table] ?? plain(table);
}
