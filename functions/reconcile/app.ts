import { Hono } from "hono";
import { inventory } from "../../shared/engine/inventory.ts";
import { pass, passForDevice } from "../../shared/engine/pass.ts";
import { BODY_BYTES, readJson } from "../../shared/runtime/body.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { notAllowed, onError, problem } from "../../shared/runtime/problem.ts";
import { reconcileRequest as request } from "./schema.ts";

/** POST /reconcile: a whole pass, or one device's; answers when it has ended. */
export function reconcileApp(deps: Deps): Hono {
  const app = new Hono();
  app.onError(onError);
  app.post("/reconcile", async (c) => {
    const length = c.req.header("content-length");
    // A chunked body is no empty one: it may name a device.
    const empty = length === "0" || (length === undefined && c.req.header("transfer-encoding") === undefined);
    const body = empty ? { ok: true as const, value: request.parse({}) } : await readJson(c, request, BODY_BYTES);
    if (!body.ok) return body.response;
    const { device: name } = body.value;
    if (name === undefined) return c.json(await pass(deps.world));
    const device = (await inventory(deps.world)).find((d) => d.name === name);
    if (device === undefined) return problem("not-found", "no device of the fleet has that name");
    const done = await passForDevice(deps.world, device.id, "pass");
    if (done === "locked") return problem("run-preparing", "another pass is at this device");
    if (done === null) return problem("not-found", "no device of the fleet has that name any more");
    return c.json({ devices: 1, steps: done.steps, failed: done.failed ? 1 : 0, skipped: false });
  });
  app.all("/reconcile", notAllowed("POST"));
  return app;
}
