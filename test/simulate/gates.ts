import { keySigner } from "../../shared/adapters/ca/key-file.ts";
import type { World } from "../../shared/engine/world.ts";
import type { AdminDeps } from "../../shared/runtime/deps.ts";
import { LISTENER_LIMITS } from "../../shared/runtime/limits.ts";
import { POLICY } from "./fleet.ts";
import { issuer } from "./hardware.ts";
import { bytesOf } from "./random.ts";
import type { Sim } from "./sim.ts";
import type { Task } from "./task.ts";

export const WEBHOOK_SECRET = "the simulation's webhook secret";
const signer = keySigner({ keyFile: "key", chainFile: "chain" }, { key: issuer.keyPem, chain: issuer.pem });

/** Every port behind the task's gates; clock and entropy of its own. */
export function worldOf(sim: Sim, task: Task): World {
  const port = <T extends object>(name: string, target: T): T =>
    new Proxy(target, {
      get: (_target, method) => {
        const work = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => {
          const call = { port: name, method: String(method), args, notBeforeMs: 0 };
          return task.arrive({ ...call, work: () => work.apply(target, args) });
        };
      },
    });
  const files: World["files"] = {
    writeSpireNodes: async (json) => {
      sim.spireNodes = json;
    },
    readSpireNodes: async () => sim.spireNodes,
    writeEvidence: async () => undefined,
  };
  return {
    netbox: port("netbox", sim.netbox),
    bootPlane: port("bootPlane", sim.bootPlane),
    cluster: port("cluster", sim.cluster),
    records: port("records", sim.records),
    store: port("store", sim.store.port),
    signer: { ...signer, sign: port("signer", signer).sign },
    files: port("files", files),
    policy: { current: async () => POLICY },
    clock: { nowMs: () => sim.nowMs + task.process.skewMs },
    entropy: { bytes: (count) => bytesOf(`${sim.seed} ${task.id} ${task.draws++}`, count) },
    settings: { ...sim.settings, shard: task.shard },
    event: ({ text }) => sim.ledger.texts.push(text),
  };
}

/** What a server's handler is given. */
export function depsOf(sim: Sim, task: Task): AdminDeps {
  const log = (fields: object, text: string) => sim.ledger.texts.push(`${text} ${JSON.stringify(fields)}`);
  return {
    world: worldOf(sim, task),
    metrics: { answer: () => undefined },
    log: { info: log, error: log },
    sleep: (ms, signal) => sleep(sim, task, ms, signal),
    sessionKeys: [bytesOf("session key", 32)],
    limits: { beginPerMinute: 1_000_000, ...LISTENER_LIMITS },
    trustedProxies: [],
    adminToken: null,
    webhookSecret: WEBHOOK_SECRET,
  };
}

async function sleep(sim: Sim, task: Task, ms: number, signal?: AbortSignal): Promise<void> {
  const before = new Set(task.waiting);
  const work = async () => undefined;
  const slept = task.arrive({ port: "time", method: "sleep", args: [ms], notBeforeMs: sim.nowMs + ms, work });
  const call = task.waiting.find((one) => !before.has(one));
  if (signal === undefined || call === undefined) return void (await slept);
  const end = () => {
    if (task.waiting.includes(call)) task.waiting.splice(task.waiting.indexOf(call), 1);
    call.resolve(undefined);
  };
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  await slept;
}
