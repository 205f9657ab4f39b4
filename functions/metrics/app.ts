import { Hono } from "hono";
import { fleetView } from "../../shared/engine/fleet-view.ts";
import { conditionLabels } from "../../shared/fleet/condition.ts";
import { isoTime } from "../../shared/fleet/moment.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import type { Metrics } from "../../shared/runtime/metrics.ts";
import { notAllowed, onError } from "../../shared/runtime/problem.ts";
import { statusPage } from "./page.ts";

function count(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const v of values) counts.set(v, (counts.get(v) ?? 0) + 1);
  return counts;
}

/** The metrics listener: /metrics, /healthz, /readyz, and the status page at /. */
export function metricsApp(deps: Deps, metrics: Metrics): Hono {
  const app = new Hono();
  app.onError(onError);
  app.get("/healthz", (c) => c.text("ok\n"));
  app.get("/readyz", async (c) => {
    await deps.world.store.get("session-mark");
    await deps.world.netbox.checkVersion();
    await deps.world.records.fleet();
    return c.text("ready\n");
  });
  app.get("/metrics", async (c) => {
    const all = await fleetView(deps.world).catch(() => null);
    if (all !== null)
      metrics.fleet(
        all.flatMap((f) => f.record.conditions.map(conditionLabels)),
        count(all.map((f) => f.device.status)),
      );
    return c.text(await metrics.registry.metrics(), 200, { "content-type": metrics.registry.contentType });
  });
  app.get("/", async (c) => c.html(statusPage(await fleetView(deps.world), isoTime(deps.world.clock.nowMs()))));
  for (const path of ["/", "/healthz", "/readyz", "/metrics"]) app.all(path, notAllowed("GET"));
  return app;
}
