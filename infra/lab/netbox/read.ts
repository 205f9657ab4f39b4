import { brief, pathOf, type Scene } from "./brief.ts";
import { filterOf } from "./filters.ts";
import { viewOf } from "./views.ts";
import type { Row, TableName } from "./world.ts";

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const MAX_PAGE = 1000;
const DEFAULT_PAGE = 50;
const CONTROL = new Set(["limit", "offset", "start", "ordering", "fields", "omit", "brief"]);

/** An object in the form that the query asks for; names in `fields` that are not there are dropped without a word. */
export function shaped(
  scene: Scene,
  table: TableName,
  row: Row,
  query: URLSearchParams,
): Record<string, unknown> | null {
  if (query.get("brief") === "true") return brief(scene, table, row.id);
  const whole = viewOf(table)(scene, row);
  const fields = query.get("fields")?.split(",");
  const omitted = new Set(query.get("omit")?.split(",") ?? []);
  const keep = ([name]: [string, unknown]) => (fields === undefined || fields.includes(name)) && !omitted.has(name);
  return Object.fromEntries(Object.entries(whole).filter(keep));
}

/** One page of a list, by offset or by cursor, of the rows that the account may see. */
export function listPage(
  scene: Scene,
  table: TableName,
  query: URLSearchParams,
  visible: (row: Row) => boolean,
): Answer {
  if (query.has("start")) {
    if (query.has("offset")) return { status: 400, body: ["'start' and 'offset' are mutually exclusive."] };
    if (query.has("ordering")) {
      return { status: 400, body: ["Ordering cannot be specified in conjunction with cursor-based pagination."] };
    }
  }
  const found = filter(scene, table, query);
  if ("faults" in found) return { status: 400, body: found.faults };
  const filtered = { rows: found.rows.filter(visible) };
  const limit = Math.min(whole(query.get("limit"), DEFAULT_PAGE) || MAX_PAGE, MAX_PAGE);
  const render = (rows: readonly Row[]) => rows.map((row) => shaped(scene, table, row, query));
  if (query.has("start")) {
    const rows = filtered.rows.filter((row) => row.id >= whole(query.get("start"), 0)).sort((a, b) => a.id - b.id);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const next = last === undefined || page.length < limit ? null : link(scene, table, query, { start: last.id + 1 });
    return { status: 200, body: { count: null, next, previous: null, results: render(page) } };
  }
  const rows = ordered(filtered.rows, table, query.get("ordering"));
  const offset = whole(query.get("offset"), 0);
  const next = offset + limit < rows.length ? link(scene, table, query, { limit, offset: offset + limit }) : null;
  const previous = offset > 0 ? link(scene, table, query, { limit, offset: Math.max(0, offset - limit) }) : null;
  return {
    status: 200,
    body: { count: rows.length, next, previous, results: render(rows.slice(offset, offset + limit)) },
  };
}

function filter(scene: Scene, table: TableName, query: URLSearchParams): { rows: Row[] } | { faults: unknown } {
  let rows = [...scene.world.tables[table].values()];
  const faults: Record<string, unknown> = {};
  for (const name of new Set(query.keys())) {
    const known = CONTROL.has(name) ? undefined : filterOf(scene.world, table, name);
    if (known === undefined) continue;
    const values = query.getAll(name);
    const fault = known.fault?.(scene.world, values) ?? null;
    if (fault !== null) faults[name] = [fault];
    else rows = rows.filter((row) => known.keep(scene.world, row, values));
  }
  return Object.keys(faults).length > 0 ? { faults } : { rows };
}

function ordered(rows: Row[], table: TableName, ordering: string | null): Row[] {
  const byDefault =
    table === "journal-entries" || table === "object-changes" ? "-id" : table === "devices" ? "name" : "id";
  const [, minus, field = "id"] = /^(-?)(.*)$/.exec(ordering ?? byDefault) ?? [];
  const sign = minus === "-" ? -1 : 1;
  const key = field === "time" || field === "created" ? "id" : field;
  return rows.sort((a, b) => {
    const [left, right] = [a[key], b[key]];
    if (typeof left === "number" && typeof right === "number") return sign * (left - right);
    return sign * String(left).localeCompare(String(right)) || a.id - b.id;
  });
}

function whole(text: string | null, otherwise: number): number {
  return text !== null && /^\d+$/.test(text) ? Number(text) : otherwise;
}

function link(scene: Scene, table: TableName, query: URLSearchParams, set: Record<string, number>): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(set)) next.set(name, String(value));
  return `${scene.base}/api${pathOf(table)}?${next}`;
}
