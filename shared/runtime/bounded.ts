import type { Context } from "hono";
import { bodyRefusal } from "./body.ts";
import type { Deps } from "./deps.ts";
import { InFlight, InFlightPerPeer } from "./limits.ts";
import { peerOf } from "./peer.ts";
import { problem } from "./problem.ts";

interface Bounds {
  readonly maxBytes: number;
  /** Places for what is done once the body is there. */
  readonly inFlight: InFlight | null;
}

/**
 * Runs handlers that anybody may call: the body first, within its time and so many of one peer at once, then a place
 * among those in flight. A place is never held for a caller that sends nothing.
 */
export function bounded(
  deps: Deps,
): (c: Context, bounds: Bounds, handle: () => Promise<Response>) => Promise<Response> {
  const { bodyMs, bodiesPerPeer, bodiesInAll } = deps.limits;
  const bodies = new InFlightPerPeer(bodiesPerPeer);
  // What came of a body is memory: 512 MiB at the most, however many addresses send.
  const all = new InFlight(bodiesInAll);
  const busy = () => problem("inventory-unavailable", "too many sessions at once; try again");
  return async (c, { maxBytes, inFlight }, handle) => {
    const peer = peerOf(c, deps.trustedProxies);
    const refused = await bodies.run(
      peer,
      async () =>
        (await all.run(async () => ({ answer: await bodyRefusal(c, maxBytes, bodyMs) }))) ?? { answer: busy() },
    );
    if (refused === undefined) return problem("rate-limited", "too many unfinished requests from this address at once");
    if (refused.answer !== null) return refused.answer;
    const answer = inFlight === null ? await handle() : await inFlight.run(handle);
    return answer ?? busy();
  };
}
