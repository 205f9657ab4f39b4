import { Hono } from "hono";
import { isPortError } from "../../shared/ports/error.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { RateLimit } from "../../shared/runtime/limits.ts";
import { codeOfPort } from "../../shared/runtime/problem.ts";
import { getConfig } from "./talos.ts";
import { refuse } from "./text.ts";

/** Talos configuration and seed: one route each, one way of serving (spec/40). */
export function configApp(deps: Deps): Hono {
  const failures = {
    perPeer: new RateLimit(deps.limits.configFailuresPerMinute),
    inAll: new RateLimit(deps.limits.configFailuresInAll),
  };
  const app = new Hono();
  app.onError((error, c) => {
    deps.log.error({ path: c.req.path, error: error.message }, "request failed");
    return isPortError(error) ? refuse(c, codeOfPort(error), "try again") : refuse(c, "internal", "fleetd failed");
  });
  for (const path of ["/talos/config", "/seed"]) app.all(path, (c) => getConfig(deps, c, failures));
  return app;
}
