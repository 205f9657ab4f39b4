import { Hono } from "hono";
import { bearerFits, clientCertificateFits } from "../shared/runtime/auth.ts";
import type { AdminDeps } from "../shared/runtime/deps.ts";
import { requestLog } from "../shared/runtime/log.ts";
import type { Metrics } from "../shared/runtime/metrics.ts";
import { onError, problem } from "../shared/runtime/problem.ts";
import { acceptApp } from "./accept/app.ts";
import { adoptApp } from "./adopt/app.ts";
import { attestApp } from "./attest/app.ts";
import { configApp } from "./config/app.ts";
import { lookupApp } from "./lookup/app.ts";
import { metricsApp } from "./metrics/app.ts";
import { openapiDocument } from "./openapi.ts";
import { planApp } from "./plan/app.ts";
import { reconcileApp } from "./reconcile/app.ts";
import { renewApp } from "./renew/app.ts";
import { webhookApp } from "./webhook/app.ts";

function listener(deps: AdminDeps, name: string, ...apps: Hono[]): Hono {
  const app = new Hono();
  app.use(requestLog(deps.log, name));
  app.onError(onError);
  for (const one of apps) app.route("/", one);
  app.notFound(() => problem("not-found", "no such route"));
  return app;
}

/** Everything of the admin listener but the webhook, which carries its own signature, and renewal, which brings its evidence. */
function behindAuth(deps: AdminDeps): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    if (clientCertificateFits(c) || bearerFits(c.req.header("authorization"), deps.adminToken)) return next();
    return problem("unauthorized", "a client certificate of FLEET_ADMIN_CA or the bearer token is needed");
  });
  app.route("/", lookupApp(deps, openapiDocument));
  app.route("/", reconcileApp(deps));
  app.route("/", adoptApp(deps));
  app.route("/", acceptApp(deps));
  app.route("/", planApp(deps));
  return app;
}

/** What each of the three listeners answers (spec/00, "Listeners and callers"). */
export function listeners(deps: AdminDeps, metrics: Metrics): { device: Hono; admin: Hono; metric: Hono } {
  return {
    device: listener(deps, "device", attestApp(deps), configApp(deps)),
    admin: listener(deps, "admin", webhookApp(deps), renewApp(deps), behindAuth(deps)),
    metric: listener(deps, "metrics", metricsApp(deps, metrics)),
  };
}
