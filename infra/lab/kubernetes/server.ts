import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { parse as parseYaml } from "yaml";
import { type ApiRequest, LabApi } from "./api.ts";
import { LabAuthority } from "./authority.ts";
import { type Faults, NO_FAULTS, setFaults, spend } from "./faults.ts";
import { textsAt } from "./json.ts";
import { ObjectStore } from "./object-store.ts";
import { Rbac } from "./rbac.ts";
import { resourcesOf } from "./resources.ts";
import { routeOf } from "./route.ts";
import { ApiError, badRequest } from "./status.ts";
import { authenticate, authorize, isExpiredToken, secretOfToken, type User } from "./users.ts";
import { serveWatch } from "./watch.ts";

export interface LabKubernetesOptions {
  /** 0 or absent: the kernel chooses. */
  readonly port?: number;
  readonly host?: string;
  readonly tokens: readonly { readonly token: string; readonly user: string; readonly groups: readonly string[] }[];
  readonly kinds: "tinkerbell" | "cluster";
  /** False where no garbage collector runs. */
  readonly garbageCollector?: boolean;
}

export interface LabKubernetes {
  readonly url: string;
  /** The authority of the server's and the kubelets' certificates, in PEM. */
  readonly caPem: string;
  close(): Promise<void>;
}

const TOKEN_CLEANER_MS = 1_000;
const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** Starts a Kubernetes API over HTTPS on a loopback port. */
export async function startLabKubernetes(options: LabKubernetesOptions): Promise<LabKubernetes> {
  const authority = new LabAuthority(options.kinds === "cluster" ? "lab-cluster-ca" : "lab-tinkerbell-ca");
  const { certificate, key } = authority.serverIdentity();
  const store = new ObjectStore();
  store.collectsGarbage = options.garbageCollector ?? true;
  const faults: Faults = { ...NO_FAULTS };
  const rbac = new Rbac(options.kinds);
  const api = new LabApi(store, resourcesOf(options.kinds), authority, faults, rbac);
  const tokens = new Map(options.tokens.map(({ token, user, groups }) => [token, { name: user, groups }]));
  const server = createServer(
    { cert: certificate, key, ca: authority.pem, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      serve(api, faults, rbac, tokens, request, response).catch((error: unknown) => answerError(response, error));
    },
  );
  server.keepAliveTimeout = 60_000;
  const host = options.host ?? "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const cleaner = setInterval(() => removeExpiredTokens(api), TOKEN_CLEANER_MS);
  const close = () =>
    new Promise<void>((resolve) => {
      clearInterval(cleaner);
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `https://${host}:${port}`, caPem: authority.pem, close };
}

async function serve(
  api: LabApi,
  faults: Faults,
  rbac: Rbac,
  tokens: ReadonlyMap<string, User>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "https://lab");
  const text = await readBody(request);
  if (url.pathname === "/lab/faults") {
    if (request.method === "POST") setFaults(faults, JSON.parse(text));
    return answer(response, 200, { ...faults });
  }
  if (url.pathname === "/lab/uses") return answer(response, 200, { uses: [...rbac.used] });
  if (url.pathname === "/lab/lose" && request.method === "POST") {
    for (const plural of textsAt(JSON.parse(text), "plurals")) loseAll(api, plural);
    return answer(response, 200, {});
  }
  if (faults.down) return void request.socket.destroy();
  if (faults.slowMs > 0) await sleep(faults.slowMs);
  if (spend(faults, "throttled")) {
    throw new ApiError(429, "TooManyRequests", "too many requests, please try again later", {}, { "retry-after": "1" });
  }
  const secrets = api.resources.find(({ plural }) => plural === "secrets");
  const secretOf = secrets === undefined ? () => null : secretOfToken(api.store, secrets);
  const user = authenticate(request.headers.authorization, request.socket as TLSSocket, tokens, secretOf);
  if (url.searchParams.get("watch")) {
    const route = routeOf(url.pathname, api.resources);
    if (route === null) throw new ApiError(404, "NotFound", "the server could not find the requested resource");
    authorize(user, "watch", route, undefined, rbac);
    return serveWatch(api.store, route, url.searchParams, response);
  }
  const call: ApiRequest = {
    method: request.method ?? "GET",
    pathname: url.pathname,
    query: url.searchParams,
    contentType: request.headers["content-type"] ?? "",
    body: bodyOf(text, request.headers["content-type"] ?? ""),
    user,
  };
  if (call.method !== "GET" && spend(faults, "lateWrites")) {
    setTimeout(() => handleLate(api, call), faults.lateMs).unref();
    return void request.socket.destroy();
  }
  const { status, body } = api.handle(call);
  if (request.method !== "GET" && spend(faults, "loseAnswers")) return void request.socket.destroy();
  answer(response, status, body);
}

/** The token cleaner of a cluster's controller manager. */
function removeExpiredTokens(api: LabApi): void {
  const secrets = api.resources.find(({ plural }) => plural === "secrets");
  if (secrets === undefined) return;
  for (const secret of api.store.list(secrets, "kube-system")) {
    if (isExpiredToken(secret)) api.store.remove(secrets, "kube-system", secret.metadata.name, {});
  }
}

/** Every object of a kind is gone, as after a restore of an older etcd. */
function loseAll(api: LabApi, plural: string): void {
  const resource = api.resources.find((candidate) => candidate.plural === plural);
  if (resource === undefined) return;
  for (const { metadata } of api.store.list(resource, "")) {
    if (api.store.has(resource, metadata.namespace ?? "", metadata.name)) {
      api.store.remove(resource, metadata.namespace ?? "", metadata.name, {});
    }
  }
}

/** Nobody hears whether it went well. */
function handleLate(api: LabApi, call: ApiRequest): void {
  try {
    api.handle(call);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function answerError(response: ServerResponse, error: unknown): void {
  const words = error instanceof Error ? error.message : "failed";
  const { status, body, headers } = error instanceof ApiError ? error : new ApiError(500, "InternalError", words);
  if (response.headersSent) response.destroy();
  else answer(response, status, body, headers);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new ApiError(413, "RequestEntityTooLarge", "limit is 3145728");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function bodyOf(text: string, contentType: string): unknown {
  if (text === "") return undefined;
  try {
    return contentType.startsWith("application/apply-patch") ? parseYaml(text) : JSON.parse(text);
  } catch {
    throw badRequest("the body of the request was in an unknown format");
  }
}
