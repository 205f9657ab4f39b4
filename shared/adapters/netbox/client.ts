import { PortError, type PortErrorKind } from "../../ports/error.ts";
import type { IdRange } from "../../ports/netbox.ts";

/** Where and as whom NetBox is asked. */
export interface NetBoxConnection {
  /** With or without a trailing slash or path prefix, without `/api`. */
  readonly url: string;
  /** Either form of token; a leading `Bearer ` or `Token ` (as the UI copies it) is taken off. */
  readonly token: string;
  readonly timeoutMs: number;
  readonly fetch?: typeof fetch;
}

export type Query = readonly (readonly [name: string, value: string | number])[];

export interface NetBoxClient {
  /** One object. @throws PortError not-found on a JSON 404 */
  get(path: string, query?: Query): Promise<unknown>;
  /** All rows, or those of a range of ids, by cursor pages that are asked for by id (`next` may name a host that we cannot reach). */
  list(path: string, query: Query): Promise<unknown[]>;
  /** The same as `view` reads each: what it leaves out is gone with its page, and null leaves out the row. */
  rows<T>(path: string, query: Query, view: (row: unknown) => T | null, range?: IdRange): Promise<T[]>;
  send(method: "PATCH" | "POST", path: string, body: unknown, ifMatch?: string): Promise<unknown>;
}

const ALL: IdRange = { from: 0, to: Number.POSITIVE_INFINITY };
const PAGE_ROWS = 1000;
const DETAIL_CHARS = 300;

/** Refusal of NetBox with its status, so that a caller may tell a 400 from a 403. */
export class NetBoxError extends PortError {
  readonly status: number;

  constructor(kind: PortErrorKind, status: number, detail: string) {
    super(kind, "netbox", detail);
    this.status = status;
  }
}

/** The Authorization header for either form of token. @see facts/netbox.md, bugs/netbox.md 6 */
export function authorization(token: string): string {
  const bare = token
    .trim()
    .replace(/^(bearer|token)\s+/i, "")
    .trim();
  return `${bare.startsWith("nbt_") ? "Bearer" : "Token"} ${bare}`;
}

/** A small client: plain fetch, one deadline a request, closed errors. Repeats reads, and writes under If-Match, once. */
export function createClient(connection: NetBoxConnection): NetBoxClient {
  const base = connection.url.replace(/\/+$/, "");
  const headers = { authorization: authorization(connection.token), accept: "application/json" };
  const ask = connection.fetch ?? fetch;

  async function once(path: string, init: RequestInit): Promise<{ response: Response; text: string }> {
    const response = await ask(`${base}${path}`, {
      ...init,
      redirect: "manual",
      signal: AbortSignal.timeout(connection.timeoutMs),
    });
    return { response, text: await response.text() };
  }

  async function call(path: string, init: RequestInit): Promise<unknown> {
    const what = `${init.method ?? "GET"} ${path.split("?")[0]}`;
    const answer = await once(path, init).catch((first: unknown) => {
      // gunicorn closes idle connections after 2 s. Reads may be sent again, and what is under If-Match: if it was done,
      // the row has moved, and the second one is refused.
      const isRepeatable = init.method === undefined || new Headers(init.headers).has("if-match");
      if (isRepeatable && closedByPeer(first)) return once(path, init);
      throw first;
    });
    return judge(what, answer.response, answer.text);
  }

  async function guarded(path: string, init: RequestInit): Promise<unknown> {
    try {
      return await call(path, init);
    } catch (error) {
      if (error instanceof PortError) throw error;
      throw new PortError("unavailable", "netbox", `${init.method ?? "GET"} ${path.split("?")[0]}: ${reason(error)}`);
    }
  }

  async function rows<T>(
    path: string,
    query: Query,
    view: (row: unknown) => T | null,
    range: IdRange = ALL,
  ): Promise<T[]> {
    const found: T[] = [];
    for (let start = range.from; start <= range.to; ) {
      const page = asPage(
        await guarded(withQuery(path, [...query, ["limit", PAGE_ROWS], ["start", start]]), { headers }),
      );
      const ids = idsOf(path, page.rows, start);
      for (const [i, row] of page.rows.entries()) {
        const seen = (ids[i] ?? 0) <= range.to ? view(row) : null;
        if (seen !== null) found.push(seen);
      }
      if (page.last || page.rows.length === 0) break;
      start = Math.max(...ids) + 1;
    }
    return found;
  }

  return {
    get: (path, query = []) => guarded(withQuery(path, query), { headers }),
    send: (method, path, body, ifMatch) =>
      guarded(path, {
        method,
        headers: {
          ...headers,
          "content-type": "application/json",
          ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
        },
        body: JSON.stringify(body),
      }),
    rows,
    list: (path, query) => rows(path, query, (row) => row),
  };
}

function withQuery(path: string, query: Query): string {
  const text = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return text === "" ? path : `${path}?${text}`;
}

function asPage(body: unknown): { rows: unknown[]; last: boolean } {
  if (typeof body === "object" && body !== null && "results" in body && Array.isArray(body.results) && "next" in body) {
    return { rows: body.results, last: body.next === null };
  }
  throw new PortError("unavailable", "netbox", "a list answer has no results");
}

/** A server that ignores `start` gives the same rows for ever: then nothing that it lists can be trusted. */
function idsOf(path: string, rows: readonly unknown[], start: number): readonly number[] {
  const ids = rows.map((row) =>
    typeof row === "object" && row !== null && "id" in row && typeof row.id === "number" ? row.id : -1,
  );
  if (ids.some((id) => id < start)) throw new PortError("unavailable", "netbox", `${path}: pages do not follow ids`);
  return ids;
}

function judge(what: string, response: Response, text: string): unknown {
  const body = parseJson(text);
  const status = response.status;
  if (response.ok && body !== undefined) return body;
  const detail = `${what}: HTTP ${status}${body === undefined ? ", not JSON" : `, ${words(body)}`}`;
  if (status === 412) throw new NetBoxError("conflict", status, `${what}: the object changed since it was read`);
  if (status >= 300 && status < 400) {
    throw new NetBoxError("rejected", status, `${what}: HTTP ${status}, a redirect; is the NetBox URL right?`);
  }
  if (body === undefined || status === 408 || status === 429 || status >= 500) {
    throw new NetBoxError("unavailable", status, detail);
  }
  if (status === 404) throw new NetBoxError("not-found", status, detail);
  throw new NetBoxError(status === 409 ? "conflict" : "rejected", status, detail);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function words(body: unknown): string {
  const detail = typeof body === "object" && body !== null && "detail" in body ? body.detail : body;
  return (typeof detail === "string" ? detail : JSON.stringify(detail)).slice(0, DETAIL_CHARS);
}

function causeCode(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
}

function closedByPeer(error: unknown): boolean {
  return ["UND_ERR_SOCKET", "ECONNRESET"].includes(causeCode(error) ?? "");
}

function reason(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return "no answer in time";
  return causeCode(error) ?? "no connection";
}
