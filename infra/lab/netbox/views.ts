import { brief, count, displayOf, family, group, type Scene, urls } from "./brief.ts";
import { choice, choices } from "./choices.ts";
import { fieldsRead } from "./custom-fields.ts";
import type { Row, TableName } from "./world.ts";

export type View = (scene: Scene, row: Row) => Record<string, unknown>;

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
    ...(table === "interface-templates"
      ? { device_type: brief(scene, "device-types", row.device_type), type: choice(choices.interfaceType, row.type) }
      : {}),
    ...(table === "sites" ? { status: choice(choices.siteStatus, row.status) } : {}),
    ...tail(row),
  });
}

const user: View = (scene, row) => {
  const { password: _password, ...shown } = row;
  const own = ({ users }: Row) => Array.isArray(users) && users.includes(row.id);
  const permissions = [...scene.world.tables.permissions.values()].filter(own);
  return { ...head(scene, "users", row), ...shown, permissions: permissions.map(({ id, name }) => ({ id, name })) };
};

const permission: View = (scene, row) => ({
  ...head(scene, "permissions", row),
  ...row,
  users: (row.users as number[]).map((id) => brief(scene, "users", id)),
});

/** The secret half of a token is told once, by the answer that made it. */
const token: View = (scene, row) => {
  const { secret: _secret, ...shown } = row;
  return { ...head(scene, "tokens", row), ...shown, user: brief(scene, "users", row.user), token: null };
};

const eventRule: View = (scene, row) => ({
  ...head(scene, "event-rules", row),
  ...row,
  action_type: { value: row.action_type, label: "Webhook" },
});

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
  users: user,
  permissions: permission,
  tokens: token,
  "event-rules": eventRule,
};

/** The whole form of an object of the table. */
export function viewOf(table: TableName): View {
  return special[table] ?? plain(table);
}
