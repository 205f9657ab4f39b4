import type { Context } from "hono";
import { bodyRefusal } from "./body.ts";
import type { Deps } from "./deps.ts";
import { type InFlight, InFlightPerPeer } from "./limits.ts";
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
  const bodies = new InFlightPerPeer(deps.limits.bodiesPerPeer);
  return async (c, { maxBytes, inFlight }, handle) => {
    const peer = peerOf(c, deps.trustedProxies);
    const refused = await bodies.run(peer, () => bodyRefusal(c, maxBytes, deps.limits.bodyMs));
    if (refused === undefined) return problem("rate-limited", "too many unfinished requests from this address at once");
    if (refused !== null) return refused;
    const answer = inFlight === null ? await handle() : await inFlight.run(handle);
    return answer ?? problem("inventory-unavailable", "too many sessions at once; try again");
  };
}
