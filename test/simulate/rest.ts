import { startPass } from "./actors/requests.ts";
import { finish } from "./apply.ts";
import type { Sim } from "./sim.ts";

/** Passes in which a fleet must come to rest once nobody acts any more. */
const MANY_PASSES = 14;

/** A pass of each shard without anybody between. Returns how many steps they took; null where one could not be done. */
export async function quietPass(sim: Sim, id: number): Promise<number | null> {
  let steps: number | null = 0;
  for (const [n, shard] of sim.shards.entries()) {
    const task = await startPass(sim, id + n / 10, 0, shard);
    await finish(sim, task);
    sim.tasks.delete(task.id);
    if (task.report === null || task.report.skipped) steps = null;
    else if (steps !== null) steps += task.report.steps + task.report.failed;
  }
  return steps;
}

/** Ends what runs, heals peers and clocks, drops writes under way: no fault is left, only what was done. */
export async function heal(sim: Sim): Promise<void> {
  sim.down.clear();
  for (const replica of sim.replicas) replica.skewMs = 0;
  for (const task of [...sim.tasks.values()]) {
    task.process.skewMs = 0;
    await finish(sim, task);
    sim.tasks.delete(task.id);
  }
  for (const call of sim.late.splice(0)) await sim.land(call);
  // Locks of who died run out.
  sim.nowMs += sim.settings.durations.passLockMs + 1000;
}

/** Everything comes to rest: passes until one has nothing left to do. False where none such comes. */
export async function rest(sim: Sim, id: number): Promise<boolean> {
  await heal(sim);
  for (let n = 0; n < MANY_PASSES && sim.violation === null; n++) {
    sim.step++;
    // The first is a walk through all of NetBox.
    sim.nowMs += n === 0 ? 660_000 : 61_000;
    sim.say(`pass (quiet ${n + 1}):`);
    if ((await quietPass(sim, id * 1_000_000 + n)) === 0) return true;
  }
  if (sim.violation === null) sim.fail(13, `${MANY_PASSES} quiet passes, and there is still something to do`);
  return false;
}
