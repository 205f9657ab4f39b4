import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { displayOf } from "./brief.ts";
import type { Model } from "./rules.ts";
import { viewOf } from "./views.ts";
import { insert, type Row, stamp, type World } from "./world.ts";

/** The request that changed something, as the change log and webhooks tell it. */
export interface Cause {
  readonly requestId: string;
  readonly user: string;
  readonly method: string;
  readonly path: string;
}
export type ChangeKind = "create" | "update" | "delete";

/** Sends webhooks one after another after the answer, once each, whatever the receiver says. */
export class Hooks {
  #queue: Promise<void> = Promise.resolve();
  #closed = false;

  push(hook: Row, body: string): void {
    this.#queue = this.#queue.then(() => (this.#closed ? undefined : deliver(hook, body)));
  }

  /** Resolves when all that were queued were tried. */
  idle(): Promise<void> {
    return this.#queue;
  }

  close(): void {
    this.#closed = true;
  }
}

/** Writes the change-log entry (only when something differs) and queues webhooks (always: a no-change save tells too). */
export function record(
  world: World,
  hooks: Hooks,
  model: Model,
  kind: ChangeKind,
  cause: Cause,
  before: Row | null,
  after: Row | null,
): void {
  const subject = after ?? before;
  if (subject === null) return;
  const pre = before === null ? null : logged(before);
  const post = after === null ? null : logged(after);
  if (JSON.stringify(pre) !== JSON.stringify(post)) {
    insert(world, "object-changes", {
      time: stamp(),
      user_name: cause.user,
      request_id: cause.requestId,
      action: kind,
      changed_object_type: model.type,
      changed_object_id: subject.id,
      object_repr: displayOf(model.table, subject),
      message: "",
      // A create has `{}` before it, as the real one says.
      prechange_data: pre ?? {},
      postchange_data: post ?? {},
    });
  }
  // NetBox sends none for journal entries on an object of another type.
  for (const rule of world.tables["event-rules"].values()) {
    const hook = world.tables.webhooks.get(Number(rule.action_object_id));
    const wanted =
      rule.enabled === true && includes(rule.object_types, model.type) && includes(rule.event_types, `object_${kind}d`);
    if (!wanted || hook === undefined) continue;
    const data = viewOf(model.table)({ world, base: "" }, subject);
    if (holds(rule.conditions, data)) hooks.push(hook, hookBody(model, kind, cause, before, after, data));
  }
}

function includes(list: unknown, value: string): boolean {
  return Array.isArray(list) && list.includes(value);
}

/** The conditions of an event rule: `and`, `or`, and a value that must be equal, of the data as it is sent. */
function holds(conditions: unknown, data: unknown): boolean {
  if (conditions === null || conditions === undefined) return true;
  const { and, or, attr, value } = Object(conditions) as Record<string, unknown>;
  if (Array.isArray(and)) return and.every((each) => holds(each, data));
  if (Array.isArray(or)) return or.some((each) => holds(each, data));
  const found = String(attr)
    .split(".")
    .reduce<unknown>((at, name) => (at === null || at === undefined ? undefined : Object(at)[name]), data);
  return found === value;
}

function logged(row: Row): Record<string, unknown> {
  const { id: _id, created: _created, last_updated: _updated, ...raw } = row;
  return raw;
}

function snapshot(row: Row | null): Record<string, unknown> | null {
  return row === null ? null : { created: `${row.created.slice(0, 23)}Z`, ...logged(row) };
}

function hookBody(
  model: Model,
  kind: ChangeKind,
  cause: Cause,
  before: Row | null,
  after: Row | null,
  data: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({
    event: `${kind}d`,
    timestamp: stamp().replace("Z", "+00:00"),
    object_type: model.type,
    data,
    request: {
      id: cause.requestId,
      path: cause.path,
      path_info: cause.path,
      method: cause.method,
      GET: {},
      user: cause.user,
    },
    snapshots: { prechange: snapshot(before), postchange: snapshot(after) },
  });
}

function deliver(hook: Row, body: string): Promise<void> {
  const url = new URL(String(hook.payload_url));
  const bytes = Buffer.from(body);
  const secret = String(hook.secret ?? "");
  const headers = {
    "user-agent": "python-urllib3/2.8.0",
    "content-type": String(hook.http_content_type),
    "content-length": bytes.length,
    ...(secret === "" ? {} : { "x-hook-signature": createHmac("sha512", secret).update(bytes).digest("hex") }),
  };
  const ca = typeof hook.ca_file_path === "string" ? { ca: readFileSync(hook.ca_file_path) } : {};
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const timeout = Number(hook.timeout) * 1000;
  return new Promise((resolve) => {
    const call = send(url, {
      method: "POST",
      headers,
      timeout,
      rejectUnauthorized: hook.ssl_verification === true,
      ...ca,
    });
    call.on("response", (response) => response.resume().on("close", () => resolve()));
    call.on("timeout", () => call.destroy());
    call.on("error", () => resolve());
    call.on("close", () => resolve());
    call.end(bytes);
  });
}
