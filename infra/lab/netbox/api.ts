import { type Caller, reaches } from "./access.ts";
import { pathOf, type Scene } from "./brief.ts";
import { type Cause, type Hooks, record } from "./events.ts";
import type { FaultOrder, Faults } from "./faults.ts";
import { models } from "./models.ts";
import { type Answer, listPage, shaped } from "./read.ts";
import type { Model } from "./rules.ts";
import { minor, type Row, type TableName, type World } from "./world.ts";
import { create, parseBody, remove, update, type Written } from "./write.ts";

export interface Lab {
  readonly world: World;
  readonly hooks: Hooks;
  readonly faults: Faults;
  readonly role: string;
}
export interface Call {
  readonly scene: Scene;
  readonly caller: Caller;
  readonly cause: Cause;
  readonly table: TableName;
  readonly id: number | null;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly ifMatch: string | undefined;
  readonly order: FaultOrder;
}
type Body = Readonly<Record<string, unknown>>;

/** NetBox's ETag of a row. */
export function etagOf(row: Row): string {
  return `W/"${row.last_updated.replace("Z", "+00:00")}"`;
}

/** Answers one call of the REST API that is authenticated and permitted. */
export function answer(lab: Lab, call: Call): Answer | Promise<Answer> {
  const { method } = call.cause;
  if (call.id === null) return onList(lab, call, method);
  const row = lab.world.tables[call.table].get(call.id);
  const model = models[call.table];
  if (row === undefined || !reaches(call.caller, lab.world, method, call.table, row)) {
    return { status: 404, body: { detail: `No ${model?.verbose ?? "ObjectChange"} matches the given query.` } };
  }
  if (method === "GET") return one(lab, call, row, 200);
  if (model === undefined || (method !== "PATCH" && method !== "DELETE")) return notAllowed(method);
  const stale = precondition(lab, call, [row]);
  if (stale !== null) return stale;
  return method === "PATCH" ? patchOne(lab, call, model, row) : deleteOne(lab, call, model, row);
}

function onList(lab: Lab, call: Call, method: string): Answer {
  const model = models[call.table];
  const visible = (row: Row) => reaches(call.caller, lab.world, "GET", call.table, row);
  if (method === "GET") return listPage(call.scene, call.table, call.query, visible);
  if (model === undefined || (method !== "POST" && method !== "PATCH")) return notAllowed(method);
  if (method === "PATCH") return patchMany(lab, call, model);
  return Array.isArray(call.body) ? createMany(lab, call, model, call.body as Body[]) : createOne(lab, call, model);
}

function notAllowed(method: string): Answer {
  return { status: 405, body: { detail: `Method "${method}" not allowed.` } };
}

function one(lab: Lab, call: Call, row: Row, status: number): Answer {
  const tag = minor(lab.world) >= 6 ? { etag: etagOf(row) } : {};
  const location = status === 201 ? { location: `${call.scene.base}/api${pathOf(call.table)}${row.id}/` } : {};
  const secret = status === 201 && call.table === "tokens" ? { token: row.secret } : {};
  const body = { ...shaped(call.scene, call.table, row, call.query), ...secret };
  return { status, body, headers: { ...tag, ...location } };
}

/** If-Match of one row or of all rows of a bulk write; a malformed tag matches nothing. */
function precondition(lab: Lab, call: Call, rows: readonly Row[]): Answer | null {
  if (call.ifMatch === undefined || call.ifMatch === "*" || minor(lab.world) < 6) return null;
  const tags = call.ifMatch.split(",").map((tag) => tag.trim());
  const bad = rows.find((row) => !tags.includes(etagOf(row)));
  return bad === undefined
    ? null
    : { status: 412, body: { detail: "Precondition failed." }, headers: { etag: etagOf(bad) } };
}

/** THE trap: body fields that `fields=` does not name are dropped. */
function named(call: Call, body: Body): Body {
  const fields = call.query.get("fields")?.split(",");
  return fields === undefined
    ? body
    : Object.fromEntries(Object.entries(body).filter(([name]) => fields.includes(name)));
}

function bodyOf(call: Call): Body {
  return typeof call.body === "object" && call.body !== null ? (call.body as Body) : {};
}

async function patchOne(lab: Lab, call: Call, model: Model, row: Row): Promise<Answer> {
  const body = named(call, bodyOf(call));
  // Without If-Match nothing is locked: the row read before this wait is saved whole after it.
  if (call.ifMatch === undefined) await lab.faults.window();
  const moved = leavesReach(lab, call, model, body, row);
  if (moved !== null) return moved;
  if (call.order.mode === "lost-write") return one(lab, call, row, 200);
  const written = update(lab.world, model, row, body);
  if ("faults" in written) return { status: 400, body: written.faults };
  log(lab, call, model, written);
  return one(lab, call, written.after, 200);
}

function leavesReach(lab: Lab, call: Call, model: Model, body: Body, row: Row): Answer | null {
  const parsed = parseBody(lab.world, model, body, row);
  if ("faults" in parsed) return null;
  return reaches(call.caller, lab.world, "PATCH", model.table, { ...row, ...parsed.row })
    ? null
    : { status: 403, body: { detail: "You do not have permission to perform this action." } };
}

function deleteOne(lab: Lab, call: Call, model: Model, row: Row): Answer {
  record(lab.world, lab.hooks, model, "delete", call.cause, row, null);
  remove(lab.world, model, row);
  return { status: 204 };
}

function createOne(lab: Lab, call: Call, model: Model): Answer {
  const written = create(lab.world, model, named(call, bodyOf(call)));
  if ("faults" in written) return { status: 400, body: written.faults };
  // As NetBox does: saved, looked at again within the rights, and rolled back where it is outside.
  if (!reaches(call.caller, lab.world, "POST", model.table, written.after)) {
    remove(lab.world, model, written.after);
    return { status: 403, body: { detail: "You do not have permission to perform this action." } };
  }
  log(lab, call, model, written);
  return one(lab, call, written.after, 201);
}

function createMany(lab: Lab, call: Call, model: Model, bodies: readonly Body[]): Answer {
  const faults = bodies.map((body) => {
    const parsed = parseBody(lab.world, model, named(call, body), null);
    return "faults" in parsed ? parsed.faults : {};
  });
  if (faults.some((each) => Object.keys(each).length > 0)) return { status: 400, body: faults };
  const made = bodies.map((body) => create(lab.world, model, named(call, body)));
  for (const each of made) log(lab, call, model, each);
  return {
    status: 201,
    body: made.map((each) => ("after" in each ? shaped(call.scene, call.table, each.after, call.query) : null)),
  };
}

/** All or none. */
function patchMany(lab: Lab, call: Call, model: Model): Answer {
  const bodies = Array.isArray(call.body) ? (call.body as Body[]) : [];
  const pairs = bodies.map((body) => ({
    body: named(call, body),
    id: Number(body.id),
    row: lab.world.tables[call.table].get(Number(body.id)),
  }));
  const times = (id: number) => pairs.filter((pair) => pair.id === id).length;
  const twice = [...new Set(pairs.map(({ id }) => id))].filter((id) => times(id) > 1);
  if (twice.length > 0) {
    const words = (id: number) => `Each object may be specified only once; ID ${id} is listed ${times(id)} times`;
    const errors = twice.map((id) => ({ id, errors: { id: [words(id)] } }));
    const detail = `${twice.length} of ${pairs.length} objects are listed more than once.`;
    return { status: 400, body: { detail, errors } };
  }
  const lost = pairs.filter(
    ({ row }) => row === undefined || !reaches(call.caller, lab.world, "PATCH", call.table, row),
  );
  if (lost.length > 0) {
    const errors = lost.map(({ id }) => ({ id, errors: { id: [`Object with ID ${id} does not exist`] } }));
    return { status: 400, body: { detail: `${lost.length} of ${pairs.length} objects could not be found.`, errors } };
  }
  const found = pairs.flatMap(({ body, row }) => (row === undefined ? [] : [{ body, row }]));
  const stale = precondition(
    lab,
    call,
    found.map(({ row }) => row),
  );
  if (stale !== null) return stale;
  const errors = found.flatMap(({ body, row }) => {
    const parsed = parseBody(lab.world, model, body, row);
    return "faults" in parsed ? [{ id: row.id, errors: parsed.faults }] : [];
  });
  if (errors.length > 0) {
    return {
      status: 400,
      body: { detail: `${errors.length} of ${found.length} objects could not be updated.`, errors },
    };
  }
  const rows = found.flatMap(({ body, row }) => {
    const written = update(lab.world, model, row, body);
    log(lab, call, model, written);
    return "after" in written ? [written.after] : [];
  });
  return { status: 200, body: rows.map((row) => shaped(call.scene, call.table, row, call.query)) };
}

function log(lab: Lab, call: Call, model: Model, written: Written): void {
  if ("faults" in written) return;
  const kind = written.before === null ? "create" : "update";
  record(lab.world, lab.hooks, model, kind, call.cause, written.before, written.after);
}
