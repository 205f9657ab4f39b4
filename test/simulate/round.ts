import { machineAct } from "./actors/machines.ts";
import { peerAct } from "./actors/peers.ts";
import { finish } from "./apply.ts";
import type { Machine } from "./machine.ts";
import { quietPass } from "./rest.ts";
import type { Sim } from "./sim.ts";

const ACTS_A_ROUND = 14;

/** What a theme is about is left to the seed: who reads first, and what is asked with a token that lives. */
function isLeft(sim: Sim, { running, config, disk }: Machine): boolean {
  if (sim.ending || running !== "disk") return false;
  const isUnread = disk?.code != null && config === null;
  return sim.themes.has("csrs") ? config !== null : isUnread && (sim.themes.has("readers") || sim.themes.has("keys"));
}

/** Everybody does what comes next, and a pass follows. Returns how much it had to do; null where it could not be done. */
export async function round(sim: Sim, id: number): Promise<number | null> {
  for (let n = 0; n < ACTS_A_ROUND; n++) {
    for (const machine of sim.machines) {
      // Told to wait twice, it waits for its owner.
      if (machine.refusals > 1 || isLeft(sim, machine)) continue;
      const task = id + n * 100 + machine.index;
      await machineAct(sim, "next", { machine, n: 1, id: task });
      const started = sim.tasks.get(task);
      if (started !== undefined) await finish(sim, started);
      sim.tasks.delete(task);
    }
    await peerAct(sim, "controller", n);
    await peerAct(sim, "rufio", 1);
  }
  sim.nowMs += 61_000;
  return quietPass(sim, id + 99_999);
}
