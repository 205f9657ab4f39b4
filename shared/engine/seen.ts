import { PortError } from "../ports/error.ts";
import type { World } from "./world.ts";

/** Asks a peer; one that is down becomes null and an event, never a throw: the planner does what is safe without it. */
export async function seen<T>(world: Pick<World, "event">, device: string, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    world.event({ kind: "peer-down", device, code: error.port, text: error.message });
    return null;
  }
}
