import type { Observed } from "../fleet/observed.ts";
import { passForDevice } from "./pass.ts";
import type { Settled } from "./settle.ts";
import type { World } from "./world.ts";

/** How often another's pass at the device is waited for, and how long each time. */
interface Patience {
  readonly tries: number;
  readonly gapMs: number;
}

/**
 * The device's own pass; one that is at this device already is waited for, since what that one has read may be older than
 * what asks now. Null: still at it, or no device of the fleet. @throws PortError
 */
export async function ownPass(
  { world, sleep }: { readonly world: World; readonly sleep: (ms: number) => Promise<void> },
  deviceId: number,
  trigger: Observed["trigger"],
  { tries, gapMs }: Patience,
): Promise<Settled | null> {
  for (let tried = 1; ; tried++) {
    const pass = await passForDevice(world, deviceId, trigger);
    if (pass !== "locked") return pass;
    if (tried === tries) return null;
    await sleep(gapMs);
  }
}
