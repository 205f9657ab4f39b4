import { Hono } from "hono";
import { wholeView } from "../../shared/engine/fleet-view.ts";
import { conditionLabels } from "../../shared/fleet/condition.ts";
import { fleetConditions } from "../../shared/fleet/fleet-conditions.ts";
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
    const all = await wholeView(deps.world).catch(() => null);
    if (all !== null) {
      const records = all.fleet.map((f) => f.record);
      metrics.fleet(
        records.flatMap((r) => r.conditions.map(conditionLabels)),
        count(all.fleet.map((f) => f.device.status)),
        fleetConditions([...records, ...all.vanished]),
      );
    }
    return c.text(await metrics.registry.metrics(), 200, { "content-type": metrics.registry.contentType });
  });
  app.get("/", async (c) => c.html(statusPage(await wholeView(deps.world), isoTime(deps.world.clock.nowMs()))));
  for (const path of ["/", "/healthz", "/readyz", "/metrics"]) app.all(path, notAllowed("GET"));
  return app;
}
