import { Hono } from "hono";
import { fleetView, wholeView } from "../../shared/engine/fleet-view.ts";
import { type ClaimedMachine, isContested, isSettled } from "../../shared/fleet/claim.ts";
import { spireNodes } from "../../shared/fleet/manifests/spire-nodes.ts";
import { isoTime } from "../../shared/fleet/moment.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { notAllowed, onError, problem } from "../../shared/runtime/problem.ts";
import { shownDevice, shownFleet, shownTimeline, shownVanished } from "./shown.ts";

/** Read-only look-ups of the admin listener (spec/00, "Listeners and callers"). */
export function lookupApp(deps: Deps, openapi: () => unknown): Hono {
  const app = new Hono();
  app.onError(onError);
  app.get("/devices", async (c) => {
    const { fleet, vanished } = await wholeView(deps.world);
    return c.json({
      devices: fleet.map(({ device, record }) => shownDevice(device, record)),
      vanished: vanished.map(shownVanished),
      fleet: shownFleet([...fleet.map((f) => f.record), ...vanished]),
    });
  });
  app.get("/devices/:name", async (c) => {
    const name = c.req.param("name");
    const { fleet, vanished } = await wholeView(deps.world);
    const found = fleet.find(({ device }) => device.name === name);
    if (found !== undefined)
      return c.json({ ...shownDevice(found.device, found.record), timeline: shownTimeline(found.record) });
    const gone = vanished.find((record) => record.name === name);
    if (gone === undefined) return problem("not-found", "no device of the fleet has that name");
    return c.json({ ...shownVanished(gone), status: null, timeline: shownTimeline(gone) });
  });
  app.get("/claims", async (c) => {
    const all = (await deps.world.store.list("claim:", 1000)).map((e) => JSON.parse(e.value) as ClaimedMachine);
    const fleet = all.length === 0 ? [] : await fleetView(deps.world);
    const open = all.filter((claim) => !isSettled(claim, fleet, isoTime));
    return c.json({ claims: open.map((claim) => ({ ...claim, contested: isContested(claim, all) })) });
  });
  app.get("/spire-nodes.json", async (c) =>
    c.json({ nodes: spireNodes(await fleetView(deps.world), deps.world.settings, deps.world.clock.nowMs()) }),
  );
  app.get("/openapi.json", (c) => c.json(openapi() as object));
  for (const path of ["/devices", "/devices/:name", "/claims", "/spire-nodes.json", "/openapi.json"])
    app.all(path, notAllowed("GET"));
  return app;
}
