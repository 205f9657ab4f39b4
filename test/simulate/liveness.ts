import { CONDITIONS } from "../../shared/fleet/condition.ts";
import { isUnfinished } from "../../shared/fleet/record.ts";
import { atRest } from "./invariants/all.ts";
import { recordOf } from "./invariants/truth.ts";
import { heal } from "./rest.ts";
import { round } from "./round.ts";
import type { Sim } from "./sim.ts";

const ROUNDS = 60;
/** Rounds that find nothing to do, each a day after the one before: a retirement may go on failing in between. */
const STILL = 3;
const HOUR = 3_600_000;

function wrongOf(sim: Sim): string | null {
  const fleet = JSON.parse(sim.records.fleetText?.text ?? '{"slots":[]}') as { slots: { deviceId: number }[] };
  for (const row of sim.netbox.rows.values()) {
    const record = recordOf(sim, row.id);
    const open = sim.bootPlane.open(row.id);
    if (record === null) {
      // Nothing is to be remembered of a device at its goal, once its memory was lost.
      if (row.status === "offline" && open.length === 0) continue;
      return `device ${row.id} has no record`;
    }
    const { run, retire } = record;
    const acting = record.conditions.filter((c) => Object.hasOwn(CONDITIONS, c.type));
    const over = run?.terminal?.state === "DEADLINE";
    if (open.length > 0 && !isUnfinished(run) && !over) return `${open[0]?.name} is enabled, and no run is unfinished`;
    if (isUnfinished(run) && acting.length === 0)
      return `device ${row.id}'s ${run.name} is ${run.phase} for days, and nothing says why`;
    const settled = row.status === "active" || row.status === "offline";
    if (!settled && acting.length === 0) return `device ${row.id} is ${row.status}, and nothing says who must act`;
    const slot = fleet.slots.some((s) => s.deviceId === row.id);
    const retiring = retire !== null && retire.offlineAtMs === null;
    if (slot && !isUnfinished(run) && !retiring) return `device ${row.id} holds a slot, and nothing runs`;
  }
  return null;
}

/** A run that began while the last rounds went by, and says of nothing that it waits: whether it ends is still to be seen. */
function isStillToEnd(sim: Sim): boolean {
  return [...sim.netbox.rows.keys()].some((id) => {
    const record = recordOf(sim, id);
    return isUnfinished(record?.run ?? null) && record?.conditions.every((c) => !Object.hasOwn(CONDITIONS, c.type));
  });
}

/** Invariant 13: with all faults healed and everybody behaving, each device comes to its goal, or says who must act. */
export async function liveness(sim: Sim): Promise<void> {
  await heal(sim);
  sim.netbox.show();
  for (const machine of sim.machines) {
    machine.lie = "honest";
    if (machine.bmc !== null) machine.bmc = "good";
    machine.bootKind = "good";
    machine.busy = false;
    machine.refusals = 0;
  }
  sim.cluster.blocked.clear();
  let still = 0;
  let rested = true;
  for (let n = 0; n < ROUNDS && (still < STILL || isStillToEnd(sim)) && sim.violation === null; n++) {
    sim.step++;
    // Deadlines of a day, back-offs and leases run out.
    if (rested) sim.nowMs += 26 * HOUR;
    sim.say(`# round ${n + 1}`);
    rested = (await round(sim, (sim.step + 1) * 1_000_000)) === 0;
    if (rested) still++;
  }
  if (sim.violation !== null) return;
  if (still < STILL) return sim.fail(13, `${ROUNDS} rounds, and there is still something to do`);
  await atRest(sim);
  const wrong = wrongOf(sim);
  if (wrong !== null) sim.fail(13, wrong);
}
