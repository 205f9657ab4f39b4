import { Hono } from "hono";
import { fleetView } from "../../shared/engine/fleet-view.ts";
import { type ClaimedMachine, isContested, isSettled } from "../../shared/fleet/claim.ts";
import { wordsOf } from "../../shared/fleet/condition.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { spireNodes } from "../../shared/fleet/manifests/spire-nodes.ts";
import { isoTime } from "../../shared/fleet/moment.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { notAllowed, onError, problem } from "../../shared/runtime/problem.ts";

const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

function conditionsOf(record: DeviceRecord) {
  return record.conditions.map((c) => {
    const words = wordsOf(c.type, c.reason);
    return {
      type: c.type,
      reason: c.reason,
      message: c.message,
      since: isoTime(c.sinceMs),
      run: c.about,
      // Absent for what an older fleetd wrote and today's list does not know.
      ...(words !== null && { means: words.means, who: words.who, clears: words.clears }),
    };
  });
}

/** A device as people and programs see it: no secret, no hash of a code. */
function view(device: Device, record: DeviceRecord) {
  const { run, config, verdict, token, retire } = record;
  return {
    id: device.id,
    name: device.name,
    serial: device.serial,
    status: device.status,
    class: device.fleetClass,
    request: device.desiredAction,
    run: run && {
      name: run.name,
      kind: run.kind,
      phase: run.phase,
      result: run.result,
      started: isoTime(run.startedAtMs),
    },
    config: config && { state: config.state, run: config.run, breaks: config.breaks },
    token: token && { id: token.id, approved: time(token.csr?.approvedAtMs ?? null), deleted: time(token.deletedAtMs) },
    verdict: verdict && { result: verdict.result, by: verdict.by, at: isoTime(verdict.atMs), codes: verdict.codes },
    identity: record.identity && {
      ...record.identity,
      issued: isoTime(record.identity.issuedAtMs),
      expires: isoTime(Math.min(record.identity.ldevid.notAfterMs, record.identity.lak.notAfterMs)),
    },
    quarantined: record.quarantine !== null,
    retire: retire && {
      erased: time(retire.erasedAtMs),
      off: time(retire.offAtMs),
      drain_since: time(retire.drainSinceMs),
      cluster_clean: time(retire.clusterCleanAtMs),
      offline: time(retire.offlineAtMs),
      failures: retire.failures,
    },
    conditions: conditionsOf(record),
  };
}

function timeline(record: DeviceRecord) {
  return record.journal.map((l) => ({
    at: isoTime(l.dueAtMs),
    level: l.level,
    code: l.code,
    text: l.text,
    sent: l.sent,
  }));
}

/** Read-only look-ups of the admin listener (spec/00, "Listeners and callers"). */
export function lookupApp(deps: Deps, openapi: () => unknown): Hono {
  const app = new Hono();
  app.onError(onError);
  app.get("/devices", async (c) =>
    c.json({ devices: (await fleetView(deps.world)).map(({ device, record }) => view(device, record)) }),
  );
  app.get("/devices/:name", async (c) => {
    const found = (await fleetView(deps.world)).find(({ device }) => device.name === c.req.param("name"));
    if (found === undefined) return problem("not-found", "no device of the fleet has that name");
    return c.json({ ...view(found.device, found.record), timeline: timeline(found.record) });
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
