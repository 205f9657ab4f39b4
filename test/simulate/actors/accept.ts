import { acceptFailures, acceptHeldRequest, acceptVanished } from "../../../shared/engine/accept.ts";
import { isPortError } from "../../../shared/ports/error.ts";
import type { Decision } from "../decision.ts";
import { worldOf } from "../gates.ts";
import { at } from "../random.ts";
import type { Sim } from "../sim.ts";

/** What the admin listener does for `fleetctl accept`, in a replica. */
export async function acceptAct(sim: Sim, decision: Extract<Decision, { do: "accept" }>): Promise<boolean> {
  const { id, what, device } = decision;
  const task = sim.task(id, "accept", at(sim.replicas, id));
  const world = worldOf(sim, task);
  task.run(async () => {
    try {
      const row = what === "request" ? await world.netbox.device(device + 1) : null;
      if (what === "request" && row === null) return;
      const answer =
        row !== null
          ? await acceptHeldRequest(world, row, null, "admin")
          : await (what === "vanished" ? acceptVanished : acceptFailures)(world, "admin");
      sim.say(`  accept ${what}: ${answer.ok ? (answer.isNew ? "accepted" : "again") : answer.detail}`);
    } catch (error) {
      if (!isPortError(error)) sim.fail(0, `accept threw ${error instanceof Error ? error.stack : String(error)}`);
    }
  });
  await task.stirred();
  if (task.gone) sim.tasks.delete(task.id);
  return true;
}
