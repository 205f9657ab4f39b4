import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { authenticate, permission, type TokenGrant } from "./access.ts";
import { answer, type Lab } from "./api.ts";
import { pathOf } from "./brief.ts";
import { Hooks } from "./events.ts";
import { broken, Faults } from "./faults.ts";
import { labDoor } from "./lab-door.ts";
import type { Answer } from "./read.ts";
import { seed } from "./seed.ts";
import { dump, emptyWorld, minor, restore, TABLES } from "./world.ts";

export interface LabNetBoxOptions {
  readonly port?: number;
  readonly host?: string;
  /** JSON file that holds all between two runs; written at close. */
  readonly state?: string;
  readonly webhook?: { readonly url: string; readonly secret: string; readonly caFile?: string };
  readonly tokens: readonly TokenGrant[];
  /** Nothing of fleetd's: neither role nor fields. */
  readonly bare?: boolean;
  /** Slug of the fleet's role, `fleet-node` by default. */
  readonly role?: string;
  /** 4.7.3 by default; 4.6.x reads selections bare, 4.5.x has no ETag. */
  readonly version?: string;
}

export interface LabNetBox {
  readonly url: string;
  readonly pid?: number;
  /** Resolves when all queued webhooks were tried. */
  hooksIdle(): Promise<void>;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 2_500_000;

/** Starts the lab's NetBox on loopback: an outside system that knows nothing of fleetd. */
export async function startLabNetBox(options: LabNetBoxOptions): Promise<LabNetBox> {
  const role = options.role ?? "fleet-node";
  const world = emptyWorld(options.version ?? "4.7.3");
  if (options.state !== undefined && existsSync(options.state)) restore(world, readFileSync(options.state, "utf8"));
  else seed(world, { role, webhook: options.webhook, bare: options.bare ?? false });
  const lab: Lab = { world, hooks: new Hooks(), faults: new Faults(), role };
  const server = createServer((request, response) => {
    handle(lab, options.tokens, request, response).catch((error: unknown) => {
      const words = error instanceof Error ? error.message : "unknown";
      send(lab, response, {
        status: 500,
        body: { error: words, exception: "LabError", netbox_version: world.version },
      });
    });
  });
  const url = await listen(server, options.port ?? 0, options.host ?? "127.0.0.1");
  return {
    url,
    pid: process.pid,
    hooksIdle: () => lab.hooks.idle(),
    async close() {
      lab.hooks.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (options.state === undefined) return;
      writeFileSync(`${options.state}.new`, dump(world), { mode: 0o600 });
      renameSync(`${options.state}.new`, options.state);
    },
  };
}

async function listen(server: Server, port: number, host: string): Promise<string> {
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

async function handle(
  lab: Lab,
  tokens: readonly TokenGrant[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = request.method ?? "GET";
  const url = new URL(request.url ?? "/", "http://lab");
  const ofLab = url.pathname.startsWith("/lab/");
  const text = await readBody(request, ofLab ? Number.POSITIVE_INFINITY : MAX_BODY_BYTES);
  if (ofLab) {
    send(lab, response, labDoor(lab, url.pathname, text === "" ? {} : JSON.parse(text)));
    return;
  }
  const order = lab.faults.take(method, url.pathname);
  if (order.mode === "slow") await sleep(order.delayMs ?? 0);
  const requestId = randomUUID();
  const result = broken(order, lab.world.version) ?? (await route(lab, tokens, request, url, text, requestId, order));
  if (order.mode === "slow-answer") await sleep(order.delayMs ?? 0);
  if (order.mode === "lost-answer") response.destroy();
  else send(lab, response, { ...result, headers: { "x-request-id": requestId, ...result.headers } });
}

async function route(
  lab: Lab,
  tokens: readonly TokenGrant[],
  request: IncomingMessage,
  url: URL,
  text: string,
  requestId: string,
  order: ReturnType<Faults["take"]>,
): Promise<Answer> {
  const method = request.method ?? "GET";
  const path = url.pathname;
  const slashed = path.endsWith("/") ? path : `${path}/`;
  const table = TABLES.find((name) => slashed.startsWith(`/api${pathOf(name)}`));
  const rest = table === undefined ? "" : slashed.slice(`/api${pathOf(table)}`.length);
  const alone = ["/api/status/", "/api/authentication-check/"].includes(slashed);
  const known = alone || (table !== undefined && /^(\d+\/)?$/.test(rest));
  if (!known) return notFound;
  if (slashed !== path) {
    return method === "GET" ? { status: 301, html: "", headers: { location: `${slashed}${url.search}` } } : notFound;
  }
  const caller = authenticate(tokens, lab.world, lab.role, request.headers.authorization);
  if ("status" in caller) return caller;
  if (slashed === "/api/authentication-check/") return { status: 200, body: { username: caller.user } };
  if (table === undefined) return { status: 200, body: status(lab) };
  const refused = permission(caller, method, table);
  if (refused !== null) return refused;
  const body = method === "GET" || method === "DELETE" ? { value: undefined } : parsed(request, text);
  if ("status" in body) return body;
  return answer(lab, {
    scene: { world: lab.world, base: `http://${request.headers.host ?? "netbox"}` },
    caller,
    cause: { requestId, user: caller.user, method, path },
    table,
    id: rest === "" ? null : Number(rest.slice(0, -1)),
    query: url.searchParams,
    body: body.value,
    ifMatch: request.headers["if-match"],
    order,
  });
}

const notFound: Answer = {
  status: 404,
  html: '<!DOCTYPE html>\n<html\n  lang="en">\n<head><title>Page Not Found</title></head></html>',
};

function status(lab: Lab) {
  return {
    "django-version": "6.1.2",
    hostname: "lab",
    installed_apps: {},
    "netbox-version": lab.world.version,
    "netbox-full-version": lab.world.version,
    plugins: {},
    "python-version": "3.12.1",
    "rq-workers-running": 1,
  };
}

function parsed(request: IncomingMessage, text: string): { value: unknown } | Answer {
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("application/json")) {
    return { status: 415, body: { detail: `Unsupported media type "${type}" in request.` } };
  }
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { status: 400, body: { detail: "JSON parse error - Expecting value: line 1 column 1 (char 0)" } };
  }
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size > maxBytes) throw new Error("Request body exceeded settings.DATA_UPLOAD_MAX_MEMORY_SIZE.");
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString("utf8");
}

function send(lab: Lab, response: ServerResponse, result: Answer): void {
  const html = result.html !== undefined;
  const body = html ? result.html : result.body === undefined ? "" : JSON.stringify(result.body);
  response.writeHead(result.status, {
    "api-version": `4.${minor(lab.world)}`,
    ...(body === "" ? {} : { "content-type": html ? "text/html; charset=utf-8" : "application/json" }),
    "content-length": Buffer.byteLength(body),
    ...result.headers,
  });
  response.end(body);
}
