import { machineAct } from "./actors/machines.ts";
import { peerAct } from "./actors/peers.ts";
import { finish } from "./apply.ts";
import { quietPass } from "./rest.ts";
import type { Sim } from "./sim.ts";

const ACTS_A_ROUND = 14;

/** Everybody does what comes next, and a pass follows. Returns how much it had to do; null where it could not be done. */
export async function round(sim: Sim, id: number): Promise<number | null> {
  for (let n = 0; n < ACTS_A_ROUND; n++) {
    for (const machine of sim.machines) {
      // Told to wait twice, it waits for its owner.
      if (machine.refusals > 1) continue;
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
