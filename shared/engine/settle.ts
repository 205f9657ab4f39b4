import type { Device } from "../fleet/device.ts";
import type { Observed } from "../fleet/observed.ts";
import { isBlind, isOpen } from "../fleet/open.ts";
import { planDevice } from "../fleet/plan/plan.ts";
import { startsRun } from "../fleet/step.ts";
import { isPortError } from "../ports/error.ts";
import { applySteps } from "./apply/index.ts";
import { type Look, type LookContext, lookAgain } from "./observe.ts";
import { nodeLabel, storeRecord } from "./records.ts";
import type { World } from "./world.ts";

/** One device may take so many looks in a row before the next pass goes on with it. */
const MAX_LOOKS = 16;
/** Of such an age at most is what is known of the whole fleet when a run is about to start. */
const WHOLE_FLEET_MAX_AGE_MS = 10_000;

export interface Settled {
  readonly observed: Observed;
  readonly steps: number;
  readonly failed: boolean;
}

/**
 * A device with nothing to do: where it rests its record says so, and passes between walks leave it alone. Labels that
 * are not what the record says are written anew: an older fleetd wrote none, and a person may take them away.
 */
export async function rest(world: World, { observed, resourceVersion, open, node }: Look): Promise<void> {
  const isWanted = isOpen(observed.record) || (open && isBlind(observed));
  if (resourceVersion === null || (open === isWanted && node === nodeLabel(observed.record))) return;
  try {
    await storeRecord(world.records, observed.record, resourceVersion, isWanted);
  } catch (error) {
    // Somebody wrote meanwhile: the next pass sees what.
    if (!isPortError(error, "conflict")) throw error;
  }
}

/** observe → plan → apply for one device until it rests, or its lock is another's; returns its last observation. */
export async function settle(world: World, first: Look, context: LookContext, keepLock: KeepLock): Promise<Settled> {
  let look = first;
  let steps = 0;
  for (let n = 0; n < MAX_LOOKS; n++) {
    const plan = planDevice(look.observed);
    if (plan.steps.length === 0) {
      await rest(world, look);
      break;
    }
    const isUnsure = startsRun(plan.steps) && context.wholeFleet.ageMs() > WHOLE_FLEET_MAX_AGE_MS;
    if (isUnsure) await context.wholeFleet.readAfresh();
    const failure = isUnsure ? null : await applySteps(world, look, plan);
    if (!isUnsure) steps += plan.steps.length;
    // A conflict means somebody else wrote: read again and decide again, within the same bound.
    if (failure !== null && failure.kind !== "conflict") return { observed: look.observed, steps, failed: true };
    const next = await lookAgain(world, look.observed.device.id, context);
    if (next === null) break;
    look = next;
    if (!plan.again && failure === null && !isUnsure) break;
    // So many looks at peers that are slow last longer than a lock.
    if (!(await keepLock())) break;
  }
  return { observed: look.observed, steps, failed: false };
}

/** Takes or keeps a lock. Locks only save work: where the store does not answer, the work is done without one. */
async function takeLock(world: World, name: string, owner: string): Promise<boolean> {
  try {
    return await world.store.lock(name, owner, world.settings.durations.passLockMs);
  } catch (error) {
    if (!isPortError(error, "unavailable")) throw error;
    world.event({ kind: "peer-down", device: "", code: error.port, text: error.message });
    return true;
  }
}

/** Called now and then, keeps a lock; false where it ended and another has it. */
export type KeepLock = () => Promise<boolean>;

/** Work under a lock; null where another holds it. */
export async function withLock<T>(
  world: World,
  name: string,
  work: (keepLock: KeepLock) => Promise<T>,
): Promise<T | null> {
  const owner = randomName(world);
  if (!(await takeLock(world, name, owner))) return null;
  let takenAtMs = world.clock.nowMs();
  try {
    return await work(async () => {
      if (world.clock.nowMs() - takenAtMs < world.settings.durations.passLockMs / 4) return true;
      takenAtMs = world.clock.nowMs();
      return takeLock(world, name, owner);
    });
  } finally {
    await world.store.unlock(name, owner).catch(() => undefined);
  }
}

/** Work under a device's lock; null where another holds it. */
export function withDeviceLock<T>(
  world: World,
  { id }: Pick<Device, "id">,
  work: (keepLock: KeepLock) => Promise<T>,
): Promise<T | null> {
  return withLock(world, `device:${id}`, work);
}

/** A lock's owner: nobody else has its name. */
function randomName({ entropy }: Pick<World, "entropy">): string {
  return Array.from(entropy.bytes(16), (b) => b.toString(16).padStart(2, "0")).join("");
}
