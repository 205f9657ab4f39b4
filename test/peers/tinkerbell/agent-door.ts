import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type JsonObject, objectOf, textAt } from "../../../infra/lab/kubernetes/json.ts";
import type { ServedAction } from "../../../infra/lab/tink/server.ts";
import { GrpcClient, GrpcError } from "./grpc.ts";
import { numberOf, readMessage, textOf, textsOf, writeMessage } from "./proto.ts";

/** Lets the lab's agents, who speak JSON, work at a real Tink server: each request is one gRPC call, and its answer. */
export interface AgentDoor {
  readonly url: string;
  close(): Promise<void>;
}

const SERVICE = "/proto.WorkflowService";
const STATES = ["UNSPECIFIED", "PENDING", "RUNNING", "FAILED", "TIMEOUT", "SUCCESS"];
const HTTP_STATUS: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  NOT_FOUND: 404,
  FAILED_PRECONDITION: 412,
  UNAVAILABLE: 503,
};

export async function openAgentDoor(grpcUrl: string): Promise<AgentDoor> {
  const client = new GrpcClient(grpcUrl);
  const server = createServer((request, response) => {
    serve(client, request, response).catch((error: unknown) => fail(response, error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        client.close();
      }),
  };
}

async function serve(client: GrpcClient, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = objectOf(JSON.parse(Buffer.concat(chunks).toString() || "{}"));
  // The server holds a question for a minute: an agent whose machine lost power asks no more.
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const answer =
    request.url === "/get-action"
      ? await getAction(client, textAt(body, "agentId"), gone.signal)
      : await report(client, body, gone.signal);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(answer));
}

function fail(response: ServerResponse, error: unknown): void {
  const code = error instanceof GrpcError ? error.code : "INTERNAL";
  const details = error instanceof Error ? error.message : "failed";
  if (response.headersSent || response.destroyed) return;
  response.writeHead(HTTP_STATUS[code] ?? 500, { "content-type": "application/json" });
  response.end(JSON.stringify({ code, details }));
}

async function getAction(client: GrpcClient, agentId: string, signal: AbortSignal): Promise<ServedAction> {
  const fields = readMessage(await client.call(`${SERVICE}/GetAction`, writeMessage([[1, agentId]]), signal));
  return {
    workflowId: textOf(fields, 1),
    taskId: textOf(fields, 2),
    agentId: textOf(fields, 3),
    actionId: textOf(fields, 4),
    name: textOf(fields, 5),
    image: textOf(fields, 6),
    timeout: numberOf(fields, 7),
    command: textsOf(fields, 8),
    volumes: textsOf(fields, 9),
  };
}

async function report(client: GrpcClient, body: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  const start = timeOf(textAt(body, "executionStart"));
  const stop = timeOf(textAt(body, "executionStop"));
  const message = writeMessage([
    [1, textAt(body, "workflowId")],
    [2, textAt(body, "agentId")],
    [3, textAt(body, "taskId")],
    [4, textAt(body, "actionId")],
    [5, textAt(body, "name")],
    [6, BigInt(Math.max(0, STATES.indexOf(textAt(body, "state"))))],
    [7, timestamp(start)],
    [8, timestamp(stop)],
    [9, start !== null && stop !== null ? `${stop - start}s` : ""],
    [10, writeMessage([[1, textAt(body, "message")]])],
  ]);
  await client.call(`${SERVICE}/ReportActionStatus`, message, signal);
  return {};
}

function timeOf(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}

function timestamp(seconds: number | null): Buffer {
  return seconds === null ? Buffer.alloc(0) : writeMessage([[1, BigInt(seconds)]]);
}
