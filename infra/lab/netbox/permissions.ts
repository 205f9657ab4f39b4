import type { Row, TableName, World } from "./world.ts";

/** An object permission as NetBox keeps it: constraints are Django lookups, a list of them is an "or". */
export interface Right {
  readonly types: readonly string[];
  readonly actions: readonly string[];
  readonly constraints: unknown;
}
export type Action = "view" | "add" | "change" | "delete";

/** The rights of one account, by its permissions of NetBox. */
export function rightsOf(world: World, userId: number): Right[] {
  const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
  return [...world.tables.permissions.values()]
    .filter((row) => row.enabled === true && list(row.users).includes(String(userId)))
    .map((row) => ({
      types: list(row.object_types),
      actions: list(row.actions),
      constraints: row.constraints ?? null,
    }));
}

/** Whether the rights give an action on any object of the type. */
export function allows(rights: readonly Right[], type: string, action: Action): boolean {
  return rights.some((right) => right.types.includes(type) && right.actions.includes(action));
}

/** Whether the rights give the action on this very object. */
export function covers(
  rights: readonly Right[],
  world: World,
  table: TableName,
  type: string,
  action: Action,
  row: Row,
): boolean {
  return rights
    .filter((right) => right.types.includes(type) && right.actions.includes(action))
    .some((right) => holds(world, table, row, right.constraints));
}

function holds(world: World, table: TableName, row: Row, constraints: unknown): boolean {
  if (constraints === null || constraints === undefined) return true;
  if (Array.isArray(constraints)) return constraints.some((each) => holds(world, table, row, each));
  return Object.entries(constraints).every(([lookup, wanted]) => {
    const path = lookup.split("__");
    const among = path.at(-1) === "in" && Array.isArray(wanted);
    const values = valuesAt(world, table, row, among ? path.slice(0, -1) : path);
    return values.some((value) => (among ? (wanted as unknown[]).includes(value) : value === wanted));
  });
}

type Step = (world: World, row: Row) => readonly (readonly [TableName, Row | undefined])[];
const to =
  (table: TableName, field: string): Step =>
  (world, row) => [[table, world.tables[table].get(Number(row[field]))]];
const toInterface: Step = (world, row) =>
  row.assigned_object_type === "dcim.interface"
    ? [["interfaces", world.tables.interfaces.get(Number(row.assigned_object_id))]]
    : [];
const steps: Partial<Record<TableName, Readonly<Record<string, Step>>>> = {
  devices: {
    role: to("device-roles", "role"),
    site: to("sites", "site"),
    device_type: to("device-types", "device_type"),
  },
  interfaces: { device: to("devices", "device") },
  "mac-addresses": { interface: toInterface },
  "ip-addresses": { interface: toInterface },
  // A termination has its device beside it, under a name of its own: an interface's `device` serves as that.
  cables: {
    terminations: (world, row) => [row.a, row.b].map((end) => ["interfaces", world.tables.interfaces.get(Number(end))]),
  },
};

function valuesAt(world: World, table: TableName, row: Row, path: readonly string[]): unknown[] {
  const [name = "", ...rest] = path;
  // `terminations___device__role`: split at two, the name's own line is what begins the next.
  const step = steps[table]?.[name.replace(/^_/, "")];
  if (step !== undefined)
    return step(world, row).flatMap(([next, found]) => (found === undefined ? [] : valuesAt(world, next, found, rest)));
  if (rest.length === 1 && name.endsWith("_type")) {
    const [app, model] = String(row[name]).split(".");
    return [rest[0] === "app_label" ? app : model];
  }
  return [row[name]];
}
