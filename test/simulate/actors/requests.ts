import { createHmac } from "node:crypto";
import { attestApp } from "../../../functions/attest/app.ts";
import { configApp } from "../../../functions/config/app.ts";
import { renewApp } from "../../../functions/renew/app.ts";
import { webhookApp } from "../../../functions/webhook/app.ts";
import { pass } from "../../../shared/engine/pass.ts";
import { isPortError } from "../../../shared/ports/error.ts";
import { depsOf, WEBHOOK_SECRET, worldOf } from "../gates.ts";
import type { Machine } from "../machine.ts";
import type { Sim } from "../sim.ts";
import type { Process, Task } from "../task.ts";

export interface Reply {
  /** 0: no answer came. */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const NO_ANSWER: Reply = { status: 0, body: {} };

function crashed(sim: Sim, what: string, error: unknown): void {
  sim.fail(0, `${what} threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
}

function bodyOf(body: object): { readonly text: string; readonly headers: Record<string, string> } {
  const text = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) };
  return { text, headers };
}

function from(address: string): object {
  return { incoming: { socket: { remoteAddress: address } } };
}

/** A whole pass by a process of its own. */
export async function startPass(sim: Sim, id: number, skewMs: number, shard: Task["shard"]): Promise<Task> {
  const process: Process = { name: `pass ${id}`, skewMs, alive: true };
  const task = sim.task(id, "pass", process);
  task.shard = shard;
  task.run(async () => {
    try {
      task.report = await pass(worldOf(sim, task));
    } catch (error) {
      if (!isPortError(error)) crashed(sim, "a pass", error);
    }
  });
  await task.stirred();
  return task;
}

/** POST of a machine to the attest or renew routes of a replica. */
export async function post(
  sim: Sim,
  id: number,
  ask: {
    readonly door?: "attest" | "renew";
    readonly step: string;
    readonly body: object;
    readonly machine: Machine;
    readonly replica: number;
  },
  then: (reply: Reply, task: Task) => void,
): Promise<void> {
  const replica = sim.replicas[ask.replica % sim.replicas.length];
  if (replica === undefined) return;
  const { door = "attest" } = ask;
  const task = sim.task(id, door === "attest" ? ask.step : `renew-${ask.step}`, replica);
  task.onKilled = () => then(NO_ANSWER, task);
  task.run(async () => {
    const { text, headers } = bodyOf(ask.body);
    const request = new Request(`https://enroll.example/${door}/v1/${ask.step}`, {
      method: "POST",
      headers,
      body: text,
    });
    const app = door === "attest" ? attestApp : renewApp;
    const response = await app(depsOf(sim, task)).fetch(request, from(ask.machine.address));
    const body = (await response.json()) as Reply["body"];
    if (response.status === 500) crashed(sim, ask.step, body.detail);
    then({ status: response.status, body }, task);
  });
  await task.stirred();
}

/** GET of a configuration; a reader that breaks off takes the head only. */
export async function fetchConfig(
  sim: Sim,
  id: number,
  ask: {
    readonly machine: Machine;
    readonly uuid: string;
    readonly code: string;
    readonly address: string;
    readonly breaks: boolean;
    readonly replica: number;
    readonly deviceId: number;
  },
  then: (status: number, config: string | null) => void,
): Promise<void> {
  const replica = sim.replicas[ask.replica % sim.replicas.length];
  if (replica === undefined) return;
  const task = sim.task(id, "config", replica);
  const { deviceId, code } = ask;
  task.onKilled = () => {
    sim.ledger.troubledServings.add(deviceId);
    then(0, null);
  };
  const told = { machine: ask.machine.index, deviceId, code, address: ask.address, by: task };
  const gate = (method: string) =>
    task.arrive({ port: "reader", method, args: [], notBeforeMs: 0, work: async () => undefined });
  task.run(async () => {
    const url = `https://enroll.example/talos/config?uuid=${ask.uuid}&code=${code}`;
    const startMs = sim.nowMs;
    const response = await configApp(depsOf(sim, task)).fetch(new Request(url), from(ask.address));
    if (response.status === 500) crashed(sim, "config", await response.text());
    if (response.status !== 200 || response.body === null) return then(response.status, null);
    sim.emit({ kind: "handed", ...told });
    const reader = response.body.getReader();
    await gate("take");
    // As the server's own limit does on Node.
    if (ask.breaks || sim.nowMs - startMs > sim.settings.durations.configServingMs) {
      await reader.cancel();
      sim.ledger.broke.set(code, ask.address);
      return then(0, null);
    }
    const { value } = await reader.read();
    sim.emit({ kind: "served", ...told });
    while (!(await reader.read()).done);
    if (task.faulty) sim.ledger.troubledServings.add(deviceId);
    then(200, new TextDecoder().decode(value));
  });
  await task.stirred();
}

/** A webhook of NetBox, signed and delivered; the device's pass follows after the answer. */
export async function deliver(sim: Sim, id: number, hook: Sim["hooks"][number], replica: number): Promise<void> {
  const process = sim.replicas[replica % sim.replicas.length];
  if (process === undefined) return;
  const task = sim.task(id, "webhook", process);
  task.background = true;
  const { text, headers } = bodyOf({
    timestamp: new Date(hook.atMs).toISOString(),
    object_type: "dcim.device",
    event: "updated",
    data: { id: hook.deviceId },
  });
  const signature = createHmac("sha512", WEBHOOK_SECRET).update(text).digest("hex");
  const signed = { ...headers, "x-hook-signature": signature };
  const deps = depsOf(sim, task);
  const log = { ...deps.log, error: (fields: object, said: string) => crashedLater(sim, fields, said) };
  const request = new Request("https://admin.example/webhooks/netbox", { method: "POST", headers: signed, body: text });
  const response = await webhookApp({ ...deps, log }).fetch(request, from("10.8.0.1"));
  if (response.status === 500) crashed(sim, "webhook", await response.text());
  task.ended = true;
  await task.stirred();
  if (task.gone) sim.tasks.delete(task.id);
}

/** The pass after a webhook says in the log why it failed; a peer's failure is no crash. */
function crashedLater(sim: Sim, fields: object, said: string): void {
  const text = `${said} ${JSON.stringify(fields)}`;
  sim.ledger.texts.push(text);
  if (!/(unavailable|conflict|not-found|rejected):/.test(text)) crashed(sim, "the pass after a webhook", text);
}
