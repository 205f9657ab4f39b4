import { Hono } from "hono";
import type { Deps } from "../../shared/runtime/deps.ts";
import { notAllowed, onError } from "../../shared/runtime/problem.ts";
import { adopt } from "./adopt.ts";

/** Entering a node whose certificates another installation of fleetd, or an older issuer, made: an administrator's word. */
export function adoptApp(deps: Deps): Hono {
  const app = new Hono();
  app.onError(onError);
  app.post("/devices/:name/adopt", (c) => adopt(deps, c, c.req.param("name")));
  app.all("/devices/:name/adopt", notAllowed("POST"));
  return app;
}
