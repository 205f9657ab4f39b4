import { Hono } from "hono";
import { type Preview, previewDevice, previewFleet } from "../../shared/engine/preview.ts";
import { stepWords } from "../../shared/fleet/plan/step-words.ts";
import { shownConditions } from "../../shared/fleet/shown-conditions.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { notAllowed, onError, problem } from "../../shared/runtime/problem.ts";

function shown({ device, before, record, steps, again }: Preview) {
  let last = before;
  return {
    id: before.deviceId,
    name: device?.name ?? before.name,
    status: device?.status ?? null,
    steps: steps.map((step) => {
      const text = stepWords(step, last);
      if (step.do === "put-record") last = step.record;
      return { do: step.do, text };
    }),
    /** True where what the steps do outside decides what comes next. */
    again,
    conditions: shownConditions(record.conditions),
  };
}

/** What the next pass would do: it observes and plans, and writes nothing. */
export function planApp(deps: Deps): Hono {
  const app = new Hono();
  app.onError(onError);
  app.get("/plan", async (c) => c.json({ devices: (await previewFleet(deps.world)).map(shown) }));
  app.get("/plan/:name", async (c) => {
    const preview = await previewDevice(deps.world, c.req.param("name"));
    if (preview === null) return problem("not-found", "no device of the fleet has that name");
    return c.json(shown(preview));
  });
  for (const path of ["/plan", "/plan/:name"]) app.all(path, notAllowed("GET"));
  return app;
}
