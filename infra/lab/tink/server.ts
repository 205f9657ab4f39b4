import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { LabClient } from "../kubernetes/client.ts";
import { at, type JsonObject, type KubernetesObject, listAt, objectOf, textAt } from "../kubernetes/json.ts";
import type { Paths } from "./paths.ts";
import { changeStatus } from "./status-writer.ts";

/** An action as an agent gets it. */
export interface ServedAction {
  readonly workflowId: string;
  readonly taskId: string;
  readonly actionId: string;
  readonly agentId: string;
  readonly name: string;
  readonly image: string;
  readonly timeout: number;
  readonly command: readonly string[];
  readonly volumes: readonly string[];
}

export interface TinkServerSettings {
  readonly port: number;
  /** How long a request for work waits for some: a minute in the real one. */
  readonly waitMs: number;
}

export interface TinkServer {
  readonly url: string;
  close(): Promise<void>;
}

class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const HTTP_STATUS: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  NOT_FOUND: 404,
  FAILED_PRECONDITION: 412,
  INTERNAL: 500,
};
/** A timestamp that was not sent is stored as the first of all. */
const NO_TIME = "1970-01-01T00:00:00Z";
const RETRY_MS = 100;

/**
 * The Tink server's role for agents, as JSON over HTTP: POST /get-action {agentId} and POST /report {workflowId, taskId,
 * actionId, agentId, state, message, executionStart, executionStop}. Nothing authenticates an agent.
 * @see facts/kubernetes-tinkerbell.md 2: "States are not final and not ordered"
 */
export async function startTinkServer(
  client: LabClient,
  paths: Paths,
  namespace: string,
  settings: TinkServerSettings,
): Promise<TinkServer> {
  const server = createServer((request, response) => {
    serve(client, paths, namespace, settings, request, response).catch((error: unknown) => fail(response, error));
  });
  await new Promise<void>((resolve) => server.listen(settings.port, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

async function serve(
  client: LabClient,
  paths: Paths,
  namespace: string,
  settings: TinkServerSettings,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = objectOf(JSON.parse(Buffer.concat(chunks).toString() || "{}"));
  const answer =
    request.url === "/get-action"
      ? await waitForAction(client, paths, namespace, textAt(body, "agentId"), settings.waitMs, response)
      : await report(client, paths, body);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(answer));
}

function fail(response: ServerResponse, error: unknown): void {
  const code = error instanceof Refusal ? error.code : "INTERNAL";
  const details = error instanceof Error ? error.message : "failed";
  if (response.headersSent || response.destroyed) return;
  response.writeHead(HTTP_STATUS[code] ?? 500, { "content-type": "application/json" });
  response.end(JSON.stringify({ code, details }));
}

async function waitForAction(
  client: LabClient,
  paths: Paths,
  namespace: string,
  agentId: string,
  waitMs: number,
  response: ServerResponse,
): Promise<ServedAction> {
  for (const startedAtMs = Date.now(); ; ) {
    try {
      return await nextAction(client, paths, namespace, agentId);
    } catch (error) {
      if (!(error instanceof Refusal) || Date.now() - startedAtMs > waitMs || response.destroyed) throw error;
    }
    await sleep(RETRY_MS);
  }
}

async function nextAction(client: LabClient, paths: Paths, namespace: string, agentId: string): Promise<ServedAction> {
  const all = await client.list(paths.workflows);
  const mine = all.filter((workflow) => agentId !== "" && textAt(workflow, "status", "agentID") === agentId);
  // The real one's list has no order, and it looks no further than the first of it.
  const workflow = mine[Math.floor(Math.random() * mine.length)];
  if (workflow === undefined) throw new Refusal("NOT_FOUND", "no Workflows found");
  const state = textAt(workflow, "status", "state");
  if (state === "PREPARING") throw new Refusal("FAILED_PRECONDITION", "Workflow is in preparing state");
  if (state !== "PENDING" && state !== "RUNNING") {
    throw new Refusal("FAILED_PRECONDITION", "Workflow not in pending or running state");
  }
  const found = firstOpen(workflow, agentId);
  if (found === null) throw new Refusal("FAILED_PRECONDITION", "no action is left for the agent");
  if (textAt(found.action, "state") !== "PENDING") {
    throw new Refusal("FAILED_PRECONDITION", "current action is not done");
  }
  const { task, action } = found;
  const timeout = at(action, "timeout");
  return {
    workflowId: `${namespace}/${workflow.metadata.name}`,
    taskId: textAt(task, "id"),
    actionId: textAt(action, "id"),
    agentId,
    name: textAt(action, "name"),
    image: textAt(action, "image"),
    timeout: typeof timeout === "number" ? timeout : 0,
    command: listAt(action, "command").map(String),
    volumes: [...listAt(task, "volumes"), ...listAt(action, "volumes")].map(String),
  };
}

function firstOpen(workflow: KubernetesObject, agentId: string): { task: unknown; action: unknown } | null {
  const tasks = listAt(workflow, "status", "tasks").filter((task) => textAt(task, "agentID") === agentId);
  const pairs = tasks.flatMap((task) => listAt(task, "actions").map((action) => ({ task, action })));
  return pairs.find(({ action }) => textAt(action, "state") !== "SUCCESS") ?? null;
}

async function report(client: LabClient, paths: Paths, sent: JsonObject): Promise<JsonObject> {
  for (const key of ["workflowId", "taskId", "actionId"]) {
    if (textAt(sent, key) === "") throw new Refusal("INVALID_ARGUMENT", `invalid ${key}`);
  }
  const name = textAt(sent, "workflowId").split("/").at(-1) ?? "";
  const there = await changeStatus(client, `${paths.workflows}/${name}`, (status) => applyReport(status, sent));
  if (!there) throw new Refusal("INTERNAL", `failed to get workflow: Workflow.tinkerbell.org "${name}" not found`);
  return {};
}

/** Takes a report over as the real server does: it asks only whether the action exists and whose it is. */
function applyReport(status: JsonObject, sent: JsonObject): JsonObject {
  const tasks = listAt(status, "tasks").map(objectOf);
  const task = tasks.find((entry) => textAt(entry, "id") === textAt(sent, "taskId"));
  const actions = listAt(task, "actions").map(objectOf);
  const action = actions.find((entry) => textAt(entry, "id") === textAt(sent, "actionId"));
  if (task === undefined || action === undefined || textAt(task, "agentID") !== textAt(sent, "agentId")) {
    throw new Refusal("NOT_FOUND", "action not found");
  }
  const state = textAt(sent, "state");
  action.state = state;
  action.message = textAt(sent, "message");
  for (const key of ["executionStart", "executionStop"]) action[key] = textAt(sent, key) || NO_TIME;
  task.actions = actions;
  const currentState = {
    agentID: textAt(task, "agentID"),
    taskID: textAt(task, "id"),
    taskName: textAt(task, "name"),
    actionID: textAt(action, "id"),
    actionName: textAt(action, "name"),
    state,
  };
  const isLast = action === actions.at(-1) && task === tasks.at(-1);
  return { ...status, tasks, currentState, state: stateAfter(status, state, isLast) };
}

function stateAfter(status: JsonObject, reported: string, isLast: boolean): unknown {
  if (reported === "SUCCESS" && isLast) return "POST";
  // What is reported is the Workflow's state, whatever that was: also FAILED becomes RUNNING again.
  const state = reported === "SUCCESS" ? status.state : reported;
  // The controller looks at the clock when something changes, and no sooner.
  return state === "RUNNING" && Date.parse(textAt(status, "globalExecutionStop")) < Date.now() ? "TIMEOUT" : state;
}
