import { Hono } from "hono";
import type { Deps } from "../../shared/runtime/deps.ts";
import { notAllowed, onError } from "../../shared/runtime/problem.ts";
import { accept } from "./accept.ts";

/** What waits for a person's confirmation: never a machine's or NetBox's. */
export function acceptApp(deps: Deps): Hono {
  const app = new Hono();
  app.onError(onError);
  app.post("/accept", (c) => accept(deps, c));
  app.all("/accept", notAllowed("POST"));
  return app;
}
