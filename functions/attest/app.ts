import { Hono } from "hono";
import { BODY_BYTES, EVIDENCE_BODY_BYTES } from "../../shared/runtime/body.ts";
import { bounded } from "../../shared/runtime/bounded.ts";
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
  // Two megabytes are parsed before a token can be looked at: a stranger gets no more of that than of sessions, twice.
  const later = new RateLimit(2 * deps.limits.beginPerMinute);
  const inFlight = new InFlight(deps.limits.beginInFlight);
  const run = bounded(deps);
  const app = new Hono();
  app.onError(onError);
  app.post("/attest/v1/begin", async (c) => {
    if (!rate.allow(peerOf(c, deps.trustedProxies), deps.world.clock.nowMs()))
      return problem("rate-limited", "too many sessions from this address within a minute");
    return run(c, { maxBytes: BODY_BYTES, inFlight }, () => begin(deps, c));
  });
  for (const [step, maxBytes, handle] of [
    ["evidence", EVIDENCE_BODY_BYTES, evidence],
    ["confirm", BODY_BYTES, confirm],
  ] as const)
    app.post(`/attest/v1/${step}`, async (c) => {
      if (later.allow(`${step} ${peerOf(c, deps.trustedProxies)}`, deps.world.clock.nowMs()))
        return run(c, { maxBytes, inFlight: null }, () => handle(deps, c));
      return problem("rate-limited", `too many calls of ${step} from this address within a minute`);
    });
  for (const step of ["begin", "evidence", "confirm"]) app.all(`/attest/v1/${step}`, notAllowed("POST"));
  return app;
}
