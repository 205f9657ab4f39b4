import { acceptAct } from "./actors/accept.ts";
import { machineAct } from "./actors/machines.ts";
import { ownerAct } from "./actors/owner.ts";
import { peerAct } from "./actors/peers.ts";
import { deliver, startPass } from "./actors/requests.ts";
import { troubleAct } from "./actors/trouble.ts";
import type { Decision } from "./decision.ts";
import { type CallFault, fits } from "./faults.ts";
import { at } from "./random.ts";
import type { Sim } from "./sim.ts";
import type { Call, Task } from "./task.ts";

/** Port calls that one task may make before it counts as one that never ends. */
const MANY_CALLS = 3000;

/** Calls of a task that may go on now. */
export function ready(sim: Sim, task: Task): Call[] {
  return task.waiting.filter((call) => call.notBeforeMs <= sim.nowMs);
}

/** Which one a call is about, without what differs from process to process. */
function aboutOf({ port, method, args: [first] }: Call): string {
  if (port === "files" || port === "signer") return "";
  if (typeof first === "number") return ` ${first}`;
  if (typeof first !== "string") return "";
  return ` ${port === "store" && !method.endsWith("lock") ? (first.split(":")[0] ?? "") : first}`;
}

async function go(sim: Sim, task: Task, n: number, fault: CallFault | undefined): Promise<boolean> {
  const calls = ready(sim, task);
  const call = calls[n % Math.max(calls.length, 1)];
  if (call === undefined) return false;
  const name = `${call.port}.${call.method}`;
  const real = fault !== undefined && fits(fault, name) ? fault : undefined;
  const about = aboutOf(call);
  const said = await sim.go(call, real);
  sim.say(`  ${task.kind} ${task.id}: ${name}${about}${said === "" ? "" : ` → ${said}`}`);
  return true;
}

/** Runs a task to its end without anybody between; sleeps take their time. */
export async function finish(sim: Sim, task: Task, calls = MANY_CALLS): Promise<void> {
  for (let n = 0; n < calls && !task.gone && sim.violation === null; n++) {
    if (ready(sim, task).length === 0) {
      const wakes = Math.min(...task.waiting.map((call) => call.notBeforeMs));
      if (!Number.isFinite(wakes)) return;
      sim.nowMs = Math.max(sim.nowMs, wakes);
    }
    await go(sim, task, 0, undefined);
    sim.step++;
  }
  if (!task.gone && sim.violation === null && !task.background && calls === MANY_CALLS)
    sim.fail(13, `${task.kind} ${task.id} makes call after call and does not end`);
}

/** Does what a decision says; false where it means nothing here (any more). */
export async function apply(sim: Sim, decision: Decision): Promise<boolean> {
  sim.step++;
  sim.nowMs++;
  switch (decision.do) {
    case "go":
    case "finish": {
      const task = sim.tasks.get(decision.task);
      if (task === undefined) return false;
      if (decision.do === "go") return go(sim, task, decision.n ?? 0, decision.fault);
      await finish(sim, task, decision.calls);
      return true;
    }
    case "tick":
      sim.nowMs += decision.ms;
      sim.say(`# ${decision.ms / 1000} s later`);
      return true;
    case "pass": {
      sim.say(`pass ${decision.id}:`);
      const task = await startPass(sim, decision.id, decision.skewMs ?? 0, at(sim.shards, decision.shard ?? 0));
      if (task.gone) sim.tasks.delete(task.id);
      return true;
    }
    case "accept":
      sim.say(`# an administrator accepts ${decision.what} (device ${decision.device + 1})`);
      return acceptAct(sim, decision);
    case "hook": {
      const [hook] = sim.hooks.splice(decision.n % Math.max(sim.hooks.length, 1), 1);
      if (hook === undefined) return false;
      if (decision.again === true) sim.hooks.push(hook);
      sim.say(`# webhook for device ${hook.deviceId}`);
      await deliver(sim, decision.id, hook, decision.n);
      return true;
    }
    case "owner":
      sim.say(`# owner: ${decision.act} device ${decision.device + 1} (${decision.n})`);
      ownerAct(sim, decision.act, decision.device, decision.n);
      return true;
    case "machine": {
      const machine = sim.machines[decision.machine];
      if (machine === undefined) return false;
      sim.say(`# machine ${machine.name}: ${decision.act} (${machine.running})`);
      await machineAct(sim, decision.act, { machine, n: decision.n, id: decision.id });
      return true;
    }
    case "peer":
      sim.say(`# ${decision.act} (${decision.n})`);
      await peerAct(sim, decision.act, decision.n);
      return true;
    case "trouble":
      sim.say(`# TROUBLE: ${decision.act} (${decision.n})`);
      await troubleAct(sim, decision.act, decision.n);
      return true;
    default:
      return false;
  }
}
