import { type Context, Hono } from "hono";
import { BODY_BYTES, EVIDENCE_BODY_BYTES } from "../../shared/runtime/body.ts";
import { bounded } from "../../shared/runtime/bounded.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { InFlight, RateLimit } from "../../shared/runtime/limits.ts";
import { peerOf } from "../../shared/runtime/peer.ts";
import { notAllowed, onError, problem } from "../../shared/runtime/problem.ts";
import { begin } from "./begin.ts";
import { evidence } from "./evidence.ts";

/** Counts an answer by its code. */
async function counted(deps: Deps, route: string, answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  const { code } = response.ok ? { code: "ok" } : ((await response.clone().json()) as { code: string });
  deps.metrics.answer(route, code);
  return response;
}

/** Renewal by a running node: no credential but its own evidence, so as bounded as the device listener's routes. */
export function renewApp(deps: Deps): Hono {
  const rate = new RateLimit(deps.limits.beginPerMinute);
  const later = new RateLimit(2 * deps.limits.beginPerMinute);
  const inFlight = new InFlight(deps.limits.beginInFlight);
  const run = bounded(deps);
  const app = new Hono();
  app.onError(onError);
  const step = (
    name: "begin" | "evidence",
    limit: RateLimit,
    maxBytes: number,
    handle: (deps: Deps, c: Context) => Promise<Response>,
  ) => {
    app.post(`/renew/v1/${name}`, async (c) => {
      if (!limit.allow(peerOf(c, deps.trustedProxies), deps.world.clock.nowMs()))
        return problem("rate-limited", `too many calls of ${name} from this address within a minute`);
      return counted(
        deps,
        `renew-${name}`,
        run(c, { maxBytes, inFlight }, () => handle(deps, c)),
      );
    });
    app.all(`/renew/v1/${name}`, notAllowed("POST"));
  };
  step("begin", rate, BODY_BYTES, begin);
  step("evidence", later, EVIDENCE_BODY_BYTES, evidence);
  return app;
}
