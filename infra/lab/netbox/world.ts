/** One stored object: raw values as NetBox's own snapshots have them (choices bare, relations by id). */
export interface Row {
  readonly id: number;
  readonly created: string;
  readonly last_updated: string;
  readonly [field: string]: unknown;
}

export const TABLES = [
  "manufacturers",
  "sites",
  "device-roles",
  "device-types",
  "interface-templates",
  "devices",
  "interfaces",
  "cables",
  "mac-addresses",
  "ip-addresses",
  "prefixes",
  "journal-entries",
  "custom-field-choice-sets",
  "custom-fields",
  "webhooks",
  "event-rules",
  "users",
  "permissions",
  "tokens",
  "object-changes",
] as const;
export type TableName = (typeof TABLES)[number];

/** All that this NetBox holds; plain JSON when dumped. */
export interface World {
  readonly tables: Record<TableName, Map<number, Row>>;
  /** Earlier versions of each device row, newest last: what another client's request in flight may still hold. */
  readonly history: Map<number, Row[]>;
  readonly ids: Record<TableName, number>;
  /** As `netbox-version` says: 4.6 gives bare selections, 4.5 has no ETags. */
  readonly version: string;
}

const KEPT_VERSIONS = 50;
let lastMicros = 0;

/** A time stamp of NetBox's form, with microseconds that never repeat. */
export function stamp(): string {
  lastMicros = Math.max(lastMicros + 1, Date.now() * 1000);
  const millis = new Date(Math.floor(lastMicros / 1000)).toISOString().slice(0, -1);
  return `${millis}${String(lastMicros % 1000).padStart(3, "0")}Z`;
}

export function emptyWorld(version: string): World {
  const make = <T>(value: () => T) => Object.fromEntries(TABLES.map((name) => [name, value()])) as Record<TableName, T>;
  return { tables: make(() => new Map<number, Row>()), history: new Map(), ids: make(() => 0), version };
}

/** Adds a row under the table's next id. */
export function insert(world: World, table: TableName, fields: Readonly<Record<string, unknown>>): Row {
  const id = world.ids[table] + 1;
  world.ids[table] = id;
  const now = stamp();
  const row = { ...fields, id, created: now, last_updated: now };
  save(world, table, row);
  return row;
}

/** Saves a whole row, as every write of NetBox does. */
export function save(world: World, table: TableName, row: Row): void {
  world.tables[table].set(row.id, row);
  if (table !== "devices") return;
  const versions = [...(world.history.get(row.id) ?? []), row];
  world.history.set(row.id, versions.slice(-KEPT_VERSIONS));
}

export function dump(world: World): string {
  return JSON.stringify({
    tables: Object.fromEntries(TABLES.map((name) => [name, [...world.tables[name].values()]])),
    ids: world.ids,
  });
}

/** Puts a dump in place of all that is there (a restored backup). */
export function restore(world: World, text: string): void {
  const { tables, ids } = JSON.parse(text) as { tables: Record<TableName, Row[]>; ids: Record<TableName, number> };
  for (const name of TABLES) {
    world.tables[name].clear();
    for (const row of tables[name] ?? []) world.tables[name].set(row.id, row);
    world.ids[name] = ids[name] ?? 0;
  }
  world.history.clear();
  for (const row of world.tables.devices.values()) world.history.set(row.id, [row]);
}

/** Minor version of 4.x. */
export function minor(world: World): number {
  return Number(world.version.split(".")[1] ?? 0);
}
