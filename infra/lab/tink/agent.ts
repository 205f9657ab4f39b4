import { setTimeout as sleep } from "node:timers/promises";
import { secondsNow } from "../kubernetes/object-store.ts";
import { type ActionResult, type AgentMachine, runCommand } from "./actions.ts";
import type { ServedAction } from "./server.ts";

/** What a lying agent does. */
export interface AgentLies {
  /** Actions (by name) that it doesn't do and reports as SUCCESS. */
  readonly skips?: readonly string[];
  /** Reported as SUCCESS in place of the first action that it gets, without doing anything. */
  readonly instead?: (served: ServedAction) => Promise<Pick<ServedAction, "taskId" | "actionId">>;
}

export interface AgentOptions {
  /** Of the Tink server. */
  readonly serverUrl: string;
  /** The MAC of the boot interface, in lower case. */
  readonly agentId: string;
  readonly machine: AgentMachine;
  readonly lies?: AgentLies;
  /** Ends the agent: its machine lost power, or restarts. */
  readonly signal: AbortSignal;
}

const RETRY_MS = 200;

/** Runs a Tink agent on a lab machine until it is ended, or an action restarts the machine. */
export async function runAgent(options: AgentOptions): Promise<void> {
  const { signal } = options;
  while (!signal.aborted) {
    try {
      const action = (await post(options, "/get-action", { agentId: options.agentId })) as ServedAction | null;
      if (action === null) await sleep(RETRY_MS, undefined, { signal });
      else if (await perform(options, action)) return;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Error)) throw error;
      // The server is away: asked again like a real agent does.
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Does one action and reports it; true where the machine goes down after it. */
async function perform(options: AgentOptions, action: ServedAction): Promise<boolean> {
  const { lies, machine, signal } = options;
  const executionStart = secondsNow();
  const say = (state: string, message = "", ids: Partial<ServedAction> = {}) =>
    post(options, "/report", {
      ...action,
      ...ids,
      state,
      message,
      executionStart,
      ...(state !== "RUNNING" && { executionStop: secondsNow() }),
    });
  if (lies?.instead !== undefined) {
    await say("SUCCESS", "done", await lies.instead(action));
    return true;
  }
  await say("RUNNING");
  let result: ActionResult;
  try {
    const skips = lies?.skips?.includes(action.name) === true;
    result = skips ? { message: "done" } : await runCommand(action.command, action.timeout, machine, signal);
  } catch (error) {
    if (signal.aborted) return true;
    await say("FAILED", error instanceof Error ? error.message : "failed");
    return false;
  }
  if (signal.aborted) return true;
  await say("SUCCESS", result.message);
  result.after?.();
  return result.after !== undefined;
}

/** Posts JSON; null where the server has nothing. */
async function post({ serverUrl, signal }: AgentOptions, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${serverUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  const answer: unknown = await response.json();
  return response.ok ? answer : null;
}
