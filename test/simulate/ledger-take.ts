import { recordOf } from "./invariants/truth.ts";
import type { Event, Ledger } from "./ledger.ts";
import type { SimWorkflow } from "./peers/boot-plane.ts";
import type { Sim } from "./sim.ts";

function isEnded(sim: Sim, { deviceId, name }: SimWorkflow): boolean {
  const run = recordOf(sim, deviceId)?.run;
  return run?.name === name && run.phase === "ended";
}

/** No system is there that fleetd remembers. */
function isUninstalled(ledger: Ledger, { deviceId }: { readonly deviceId: number }): boolean {
  return !ledger.installed.has(deviceId) || ledger.lostSince(0, deviceId, "record", "records");
}

/** Writes an event down, after it was judged. */
export function take(sim: Sim, event: Event): void {
  const { ledger } = sim;
  switch (event.kind) {
    case "enabled": {
      const { workflow } = event;
      const request = ledger.requests.get(`${workflow.deviceId} ${workflow.requestId}`);
      ledger.enabled.push({
        workflow,
        step: sim.step,
        atMs: sim.nowMs,
        requestAtMs: request?.atMs ?? 0,
        firstInstall: workflow.kind === "provision" && request?.planned === true && isUninstalled(ledger, workflow),
      });
      return;
    }
    case "created":
      ledger.made.add(event.workflow.name);
      return;
    case "recorded": {
      const { deviceId, acceptedRequest } = event.record;
      ledger.wroteRecord(event.record, sim.step);
      if (acceptedRequest === null || event.by?.kind !== "accept") return;
      const { kind, request } = acceptedRequest;
      const key = `${deviceId} ${request.id}`;
      if (event.before?.acceptedRequest?.request.id !== request.id) ledger.accepted.set(key, sim.step);
      if (!ledger.requests.has(key)) ledger.requests.set(key, { atMs: request.atMs, planned: kind === "install" });
      return;
    }
    case "issued":
      ledger.certified.set(event.deviceId, new Set([...(ledger.certified.get(event.deviceId) ?? []), event.machine]));
      return;
    case "token":
      ledger.secrets.add(event.secret);
      ledger.tokens.set(event.token.id, event.token);
      return;
    case "approved":
      ledger.approved.push({ csr: event.csr, atMs: sim.nowMs });
      return;
    case "joined": {
      const run = ledger.enabled.find((e) => e.workflow.name === event.run);
      if (run !== undefined) ledger.joined.set(event.node.uid, run);
      return;
    }
    case "served":
      ledger.servings.set(event.code, (ledger.servings.get(event.code) ?? 0) + 1);
      ledger.installed.set(event.deviceId, event.code);
      return;
    case "disk":
      ledger.installed.delete(event.workflow.deviceId);
      return;
    case "succeeded":
      ledger.succeeded.push({ workflow: event.workflow, atMs: sim.nowMs, late: isEnded(sim, event.workflow) });
      return;
    case "off-job":
      ledger.offJobs.push(event);
      return;
    default:
      return;
  }
}
