import { Hono } from "hono";
import type { Deps } from "../../shared/runtime/deps.ts";
import { InFlight, RateLimit } from "../../shared/runtime/limits.ts";
import { peerOf } from "../../shared/runtime/peer.ts";
import { notAllowed, onError, problem } from "../../shared/runtime/problem.ts";
import { begin } from "./begin.ts";
import { confirm } from "./confirm.ts";
import { evidence } from "./evidence.ts";

/** The device protocol's attestation routes (spec/10). */
export function attestApp(deps: Deps): Hono {
  const rate = new RateLimit(deps.limits.beginPerMinute);
  const inFlight = new InFlight(deps.limits.beginInFlight);
  const app = new Hono();
  app.onError(onError);
  app.post("/attest/v1/begin", async (c) => {
    if (!rate.allow(peerOf(c, deps.trustedProxies), deps.world.clock.nowMs()))
      return problem("rate-limited", "too many sessions from this address within a minute");
    const answer = await inFlight.run(() => begin(deps, c));
    return answer ?? problem("inventory-unavailable", "too many sessions at once; try again");
  });
  app.post("/attest/v1/evidence", (c) => evidence(deps, c));
  app.post("/attest/v1/confirm", (c) => confirm(deps, c));
  for (const step of ["begin", "evidence", "confirm"]) app.all(`/attest/v1/${step}`, notAllowed("POST"));
  return app;
}
