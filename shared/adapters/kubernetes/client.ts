import { readFile } from "node:fs/promises";
import type { KubeConfig } from "@kubernetes/client-node";
import { PortError } from "../../ports/error.ts";
import { noAnswer, StatusError, statusError } from "./errors.ts";
import { type JsonObject, listAt, objectOf, textAt } from "./json.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface CallOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Keeps the server's words out of errors: what was sent holds a secret. */
  readonly quiet?: boolean;
}

export interface ClientOptions {
  readonly kubeconfigFile: string;
  readonly timeoutMs: number;
  /** Objects a page of a list; the server may send fewer. */
  readonly pageSize?: number;
}

/** A Kubernetes API server: JSON in, JSON out, PortError for all else. */
export interface KubernetesClient {
  call(method: Method, path: string, options?: CallOptions): Promise<JsonObject>;
  /** All objects of a collection, page by page. */
  list(path: string, query?: Readonly<Record<string, string>>): Promise<JsonObject[]>;
  /** The same as views: what a view leaves out is gone with its page, and null leaves out the object. */
  views<T>(path: string, query: Readonly<Record<string, string>>, view: (object: JsonObject) => T | null): Promise<T[]>;
  readonly port: string;
  readonly timeoutMs: number;
}

const DEFAULT_PAGE_SIZE = 500;

/**
 * Makes a client for the current context of a kubeconfig file. The package is loaded and the file read at the first
 * call; one dispatcher is kept, since the package would open a connection for each request (its issue 2893).
 */
export function createClient(port: string, options: ClientOptions): KubernetesClient {
  let connecting: Promise<Connection> | undefined;
  const call = async (method: Method, path: string, callOptions: CallOptions = {}): Promise<JsonObject> => {
    connecting ??= connect(options.kubeconfigFile).catch((cause: unknown) => {
      connecting = undefined;
      throw new PortError("unavailable", port, `kubeconfig: ${textAt(cause, "code") || "not readable"}`);
    });
    return send(await connecting, port, options.timeoutMs, method, path, callOptions);
  };
  return pagedClient(port, options, call);
}

/** A client over any way of making one call: paging and the answer to an expired continue token are the same for all. */
export function pagedClient(
  port: string,
  options: Pick<ClientOptions, "timeoutMs" | "pageSize">,
  call: KubernetesClient["call"],
): KubernetesClient {
  const pages = async <T>(
    path: string,
    query: Readonly<Record<string, string>>,
    view: (object: JsonObject) => T | null,
  ): Promise<T[]> => {
    const items: T[] = [];
    let next = "";
    do {
      const page = await call("GET", path, {
        query: { ...query, limit: String(options.pageSize ?? DEFAULT_PAGE_SIZE), ...(next && { continue: next }) },
      });
      for (const item of listAt(page, "items")) {
        const seen = view(objectOf(item));
        if (seen !== null) items.push(seen);
      }
      next = textAt(page, "metadata", "continue");
    } while (next !== "");
    return items;
  };
  const views: KubernetesClient["views"] = async (path, query, view) => {
    try {
      return await pages(path, query, view);
    } catch (error) {
      // The continue token grew too old while the pages were read: the rest it offers is of another moment.
      if (error instanceof StatusError && error.status === 410) return pages(path, query, view);
      throw error;
    }
  };
  const list: KubernetesClient["list"] = (path, query = {}) => views(path, query, (object) => object);
  return { call, list, views, port, timeoutMs: options.timeoutMs };
}

interface Connection {
  readonly config: KubeConfig;
  readonly server: string;
  readonly package: typeof import("@kubernetes/client-node");
}

async function connect(kubeconfigFile: string): Promise<Connection> {
  const [kubernetes, text] = await Promise.all([import("@kubernetes/client-node"), readFile(kubeconfigFile, "utf8")]);
  const config = new kubernetes.KubeConfig();
  config.loadFromString(text);
  config.makePathsAbsolute(kubeconfigFile.replace(/[^/]*$/, "") || ".");
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) throw new Error("no current cluster");
  keepDispatcher(config);
  return { config, server: server.replace(/\/+$/, ""), package: kubernetes };
}

/** Keeps the dispatcher until the certificate files say something else. */
function keepDispatcher(config: KubeConfig): void {
  const make: unknown = Reflect.get(config, "createDispatcher");
  if (typeof make !== "function") throw new Error("createDispatcher is gone");
  let kept: { readonly material: string; readonly dispatcher: unknown } | undefined;
  Reflect.set(config, "createDispatcher", (cluster: unknown, tls: Readonly<Record<string, unknown>>) => {
    const material = JSON.stringify(tls);
    if (kept?.material !== material) kept = { material, dispatcher: Reflect.apply(make, config, [cluster, tls]) };
    return kept.dispatcher;
  });
}

const WRITES: readonly string[] = ["POST", "PUT", "PATCH"];

async function send(
  { config, server, package: kubernetes }: Connection,
  port: string,
  timeoutMs: number,
  method: Method,
  path: string,
  { query = {}, body, quiet = false }: CallOptions,
): Promise<JsonObject> {
  const name = `${method} ${path}`;
  const parameters = new URLSearchParams({ ...query, ...(WRITES.includes(method) && { fieldValidation: "Strict" }) });
  const request = new kubernetes.RequestContext(`${server}${path}${suffix(parameters)}`, method);
  request.setHeaderParam("Accept", "application/json");
  if (body !== undefined) {
    request.setHeaderParam("Content-Type", method === "PATCH" ? "application/merge-patch+json" : "application/json");
    request.setBody(JSON.stringify(body));
  }
  let status: number;
  let text: string;
  try {
    await config.applySecurityAuthentication(request);
    request.setSignal(AbortSignal.timeout(timeoutMs));
    const response = await new kubernetes.IsomorphicFetchHttpLibrary().send(request).toPromise();
    status = response.httpStatusCode;
    text = await response.body.text();
  } catch (cause) {
    throw noAnswer(port, name, cause);
  }
  const answer = parse(text);
  if (status < 200 || status > 299) throw statusError(port, name, status, answer, quiet);
  if (answer === undefined) throw new PortError("unavailable", port, `${name}: ${status}, not JSON`);
  return objectOf(answer);
}

function suffix(parameters: URLSearchParams): string {
  return parameters.size === 0 ? "" : `?${parameters}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
