import { BlockList, isIP } from "node:net";
import { hostOf, stored } from "./addresses.ts";
import { type ChoiceSet, choices } from "./choices.ts";
import type { Row, TableName, World } from "./world.ts";

type Fault = string | null;
/** One known filter: what it keeps, and the fault of a bad value (400). Unknown filters are ignored by whoever looks here. */
export interface Filter {
  keep(world: World, row: Row, values: readonly string[]): boolean;
  fault?(world: World, values: readonly string[]): Fault;
}
type Read = (world: World, row: Row) => unknown;

const notChoice = (value: string) => `Select a valid choice. ${value} is not one of the available choices.`;

function number(read: Read): Filter {
  return {
    keep: (world, row, values) => values.includes(String(read(world, row))),
    fault: (_world, values) => (values.every((value) => /^\d+$/.test(value)) ? null : "Enter a whole number."),
  };
}
/** A relation by id: an id that is not there is a bad value. */
function related(table: TableName, read: Read): Filter {
  return {
    keep: number(read).keep,
    fault(world, values) {
      const bad = values.find((value) => !world.tables[table].has(Number(value)));
      return bad === undefined ? null : notChoice(bad);
    },
  };
}
function relatedBy(table: TableName, field: string, read: Read): Filter {
  return {
    keep: (world, row, values) => {
      const other = world.tables[table].get(Number(read(world, row)));
      return other !== undefined && values.includes(String(other[field]));
    },
    fault(world, values) {
      const known = new Set([...world.tables[table].values()].map((row) => row[field]));
      const bad = values.find((value) => !known.has(value));
      return bad === undefined ? null : notChoice(bad);
    },
  };
}
function text(read: Read, ignoreCase = false): Filter {
  const fold = (value: unknown) => (ignoreCase ? String(value).toLowerCase() : String(value));
  return { keep: (world, row, values) => values.some((value) => fold(value) === fold(read(world, row))) };
}
function oneOf(set: ChoiceSet, read: Read): Filter {
  return {
    keep: text(read).keep,
    fault: (_world, values) => {
      const bad = values.find((value) => !(value in set));
      return bad === undefined ? null : notChoice(bad);
    },
  };
}
function mac(read: (world: World, row: Row) => readonly unknown[]): Filter {
  const digits = (value: unknown) =>
    String(value)
      .toLowerCase()
      .replace(/[^0-9a-f]/g, "");
  return {
    keep: (world, row, values) =>
      read(world, row).some((each) => values.some((value) => digits(value) === digits(each))),
  };
}
const own =
  (field: string): Read =>
  (_world, row) =>
    row[field];
const deviceOfInterface: Read = (world, row) =>
  row.assigned_object_type === "dcim.interface"
    ? world.tables.interfaces.get(Number(row.assigned_object_id))?.device
    : undefined;
const deviceName: Read = (world, row) => world.tables.devices.get(Number(deviceOfInterface(world, row)))?.name;
const macsOf = (world: World, interfaceId: number) =>
  [...world.tables["mac-addresses"].values()]
    .filter((row) => row.assigned_object_id === interfaceId)
    .map((row) => row.mac_address);
function holds(prefix: string, value: string): boolean {
  const [network = "", length = ""] = prefix.split("/");
  const [address = "", own = ""] = value.split("/");
  const family = (text: string) => (isIP(text) === 6 ? "ipv6" : "ipv4");
  if (isIP(address) === 0 || family(address) !== family(network) || (own !== "" && Number(own) < Number(length)))
    return false;
  const list = new BlockList();
  list.addSubnet(network, Number(length), family(network));
  return list.check(address, family(address));
}
const micros = (value: string) => value.replace(/Z$|\+00:00$/, "").padEnd(26, "0");

const common: Record<string, Filter> = {
  id: number(own("id")),
  name: text(own("name")),
  slug: text(own("slug")),
  q: {
    keep: (_world, row, values) =>
      values.some((value) =>
        `${row.comments ?? ""}\n${row.name ?? ""}\n${row.serial ?? ""}`.toLowerCase().includes(value.toLowerCase()),
      ),
  },
  last_updated__gte: { keep: (_world, row, values) => micros(row.last_updated) >= micros(values[0] ?? "") },
  modified_by_request: {
    keep: (world, row, values) =>
      [...world.tables["object-changes"].values()].some(
        (change) => change.changed_object_id === row.id && values.includes(String(change.request_id)),
      ),
  },
};

const assignedFilters: Record<string, Filter> = {
  // These two filters are methods in NetBox: an id that is not there is no bad value, unlike on interfaces.
  device_id: number(deviceOfInterface),
  device: text(deviceName),
  interface_id: related("interfaces", own("assigned_object_id")),
  assigned_object_type: text(own("assigned_object_type")),
  assigned_object_id: number(own("assigned_object_id")),
};

const byTable: Partial<Record<TableName, Record<string, Filter>>> = {
  devices: {
    role: relatedBy("device-roles", "slug", own("role")),
    role_id: related("device-roles", own("role")),
    site: relatedBy("sites", "slug", own("site")),
    site_id: related("sites", own("site")),
    status: oneOf(choices.deviceStatus, own("status")),
    serial: text(own("serial"), true),
    mac_address: mac((world, row) =>
      [...world.tables.interfaces.values()]
        .filter((each) => each.device === row.id)
        .flatMap((each) => macsOf(world, each.id)),
    ),
  },
  "interface-templates": { device_type_id: related("device-types", own("device_type")) },
  interfaces: {
    device_id: related("devices", own("device")),
    device: relatedBy("devices", "name", own("device")),
    device_role: relatedBy("device-roles", "slug", (world, row) => world.tables.devices.get(Number(row.device))?.role),
    mgmt_only: text(own("mgmt_only")),
    mac_address: mac((world, row) => macsOf(world, row.id)),
  },
  cables: {
    device_id: {
      keep: (world, row, values) =>
        [row.a, row.b].some((end) => values.includes(String(world.tables.interfaces.get(Number(end))?.device))),
    },
  },
  "mac-addresses": { ...assignedFilters, mac_address: mac((_world, row) => [row.mac_address]) },
  "ip-addresses": {
    ...assignedFilters,
    // Without a length: that host, whatever its length.
    address: {
      keep: (_world, row, values) =>
        values.some((value) => [row.address, hostOf(String(row.address))].includes(stored(value) ?? hostOf(value))),
    },
  },
  prefixes: {
    prefix: { keep: (_world, row, values) => values.some((value) => row.prefix === stored(value)) },
    // What is no address holds for no prefix.
    contains: { keep: (_world, row, values) => values.every((value) => holds(String(row.prefix), value)) },
  },
  "journal-entries": {
    assigned_object_type: text(own("assigned_object_type")),
    assigned_object_id: number(own("assigned_object_id")),
    kind: oneOf(choices.journalKind, own("kind")),
    created_after: { keep: (_world, row, values) => micros(row.created) >= micros(values[0] ?? "") },
  },
  users: { username: text(own("username")) },
  tokens: { user: relatedBy("users", "username", own("user")) },
  "object-changes": {
    changed_object_type: text(own("changed_object_type")),
    changed_object_id: number(own("changed_object_id")),
    request_id: text(own("request_id")),
    action: oneOf(choices.changeAction, own("action")),
    user_name: text(own("user_name")),
  },
};

/** The filter of that name, or undefined for one that NetBox would ignore. */
export function filterOf(world: World, table: TableName, name: string): Filter | undefined {
  if (table === "devices" && name.startsWith("cf_")) return customFieldFilter(world, name.slice(3));
  return byTable[table]?.[name] ?? common[name];
}

function customFieldFilter(world: World, name: string): Filter | undefined {
  const [field, lookup] = name.split("__");
  const known = [...world.tables["custom-fields"].values()].find((row) => row.name === field);
  if (known === undefined || known.filter_logic === "disabled") return undefined;
  const value = (row: Row) => (row.custom_fields as Record<string, unknown>)[String(field)] ?? null;
  if (lookup === "empty") return { keep: (_world, row, values) => String(value(row) === null) === values[0] };
  return lookup === undefined ? { keep: (_world, row, values) => values.includes(String(value(row))) } : undefined;
}
