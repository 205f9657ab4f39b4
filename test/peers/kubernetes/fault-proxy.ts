import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { LabAuthority } from "../../../infra/lab/kubernetes/authority.ts";
import { type Faults, NO_FAULTS, setFaults, spend } from "../../../infra/lab/kubernetes/faults.ts";
import { writeKubeconfig } from "../../../infra/lab/kubernetes/kubeconfig.ts";

/** Stands between fleetd and a real API, and spoils the way, never the answers. */
export interface FaultProxy {
  set(change: Record<string, unknown>): void;
  close(): Promise<void>;
}

interface Target {
  readonly url: string;
  readonly agent: Agent;
}

const BUSY = {
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  reason: "TooManyRequests",
  message: "too many requests, please try again later",
  code: 429,
};

/**
 * Starts one that calls the API with the account of `account` (a kubeconfig with a certificate), and writes fleetd's
 * kubeconfig for it.
 */
export async function startFaultProxy(account: string, kubeconfigFile: string, namespace: string): Promise<FaultProxy> {
  const config = JSON.parse(readFileSync(account, "utf8"));
  const { server: url, "certificate-authority-data": ca } = config.clusters[0].cluster;
  const user = config.users[0].user;
  const pem = (text: string) => Buffer.from(text, "base64").toString();
  const [cert, key] = [pem(user["client-certificate-data"]), pem(user["client-key-data"])];
  const agent = new Agent({ keepAlive: true, ca: pem(ca), cert, key });
  const authority = new LabAuthority("proxy");
  const identity = authority.serverIdentity();
  const faults: Faults = { ...NO_FAULTS };
  const server = createServer({ cert: identity.certificate, key: identity.key }, (request, response) => {
    pass({ url, agent }, faults, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  writeKubeconfig(kubeconfigFile, `https://127.0.0.1:${port}`, "of-no-account", namespace, authority.pem);
  return {
    set: (change) => setFaults(faults, change),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}

async function pass(target: Target, faults: Faults, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const writes = request.method !== "GET";
  if (faults.down) return void request.socket.destroy();
  if (faults.slowMs > 0) await sleep(faults.slowMs);
  if (spend(faults, "throttled")) {
    response.writeHead(429, { "content-type": "application/json", "retry-after": "1" });
    return void response.end(JSON.stringify(BUSY));
  }
  if (writes && spend(faults, "lateWrites")) {
    request.socket.destroy();
    await sleep(faults.lateMs);
    return void (await forward(target, request, request.url ?? "/", body));
  }
  const path = pathOf(request.url ?? "/", faults);
  const answer = await forward(target, request, path, body);
  if (writes && spend(faults, "loseAnswers")) return void request.socket.destroy();
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body);
}

/** A continue token names the version that its list began with. The first of all is older than what any server keeps. */
function pathOf(path: string, faults: Faults): string {
  const url = new URL(path, "https://proxy");
  const token = url.searchParams.get("continue");
  if (token === null || !spend(faults, "expiredContinues")) return path;
  const inside = JSON.parse(Buffer.from(token, "base64url").toString());
  url.searchParams.set("continue", Buffer.from(JSON.stringify({ ...inside, rv: 1 })).toString("base64url"));
  return `${url.pathname}${url.search}`;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

function forward(target: Target, request: IncomingMessage, path: string, body: Buffer): Promise<Answer> {
  const { authorization: _none, host: _here, connection: _own, ...headers } = request.headers;
  return new Promise((resolve, reject) => {
    const options = {
      method: request.method,
      agent: target.agent,
      headers: { ...headers, "content-length": body.length },
    };
    const call = httpsRequest(`${target.url}${path}`, options, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk);
      const { "transfer-encoding": _chunked, connection: _theirs, ...kept } = answer.headers;
      resolve({ status: answer.statusCode ?? 502, headers: kept, body: Buffer.concat(chunks) });
    });
    call.on("error", reject).end(body);
  });
}
