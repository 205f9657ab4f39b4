import { withAcceptance } from "../acceptance.ts";
import type { RequestKind } from "../accepted-request.ts";
import { withAcceptedRequest } from "../held.ts";
import { nodeName } from "../installed-name.ts";
import type { Observed } from "../observed.ts";
import { isUnfinished, touchesDisk } from "../record.ts";
import { newestEntry } from "../request.ts";
import type { Plan } from "../step.ts";
import { activate } from "./activate.ts";
import { changedUnder } from "./changed-under.ts";
import { configUpkeep } from "./config-upkeep.ts";
import { holdNode } from "./cordon.ts";
import { approveCsrs, endTokens, readByCsr } from "./csr-approval.ts";
import { Draft } from "./draft.ts";
import { explain } from "./explain.ts";
import { asPresent, countedOff } from "./gone.ts";
import { inventoryWentBack } from "./inventory-back.ts";
import { settleHeldBack } from "./mass-failure.ts";
import { latchRun, settleServed } from "./one-run.ts";
import { adoptOrphan } from "./orphan.ts";
import { requests } from "./requests.ts";
import { retire, retiredOffline } from "./retire.ts";
import { showFields } from "./shown.ts";
import { continueStart } from "./start.ts";
import { statusLost } from "./status-lost.ts";
import { endStrayTokens } from "./stray-tokens.ts";
import { upkeep } from "./upkeep.ts";

function byStatus(d: Draft): void {
  const { status } = d.o.device;
  switch (status) {
    case "planned":
    case "active":
      abandonRetirement(d);
      requests(d);
      if (status === "active" && d.record.installed === null && !isUnfinished(d.record.run))
        d.condition(
          "StatusNotEarned",
          "not-served",
          "active, but fleetd served no configuration: no renewal, not listed",
        );
      return;
    case "decommissioning":
      retire(d);
      return;
    case "offline":
      retiredOffline(d);
      requests(d);
      return;
    default:
      d.condition("StatusUnknown", "status", `status ${status}: fleetd leaves the device alone`);
  }
}

/** Row 32: the owner took the retirement back before anything was erased. */
function abandonRetirement(d: Draft): void {
  const { retire: state, run } = d.record;
  if (state === null || state.offlineAtMs !== null) return;
  if (run?.kind === "retire" && run.phase !== "ended") return;
  d.set({ retire: null, goneOff: countedOff(d.record) });
  const erased = state.erasedAtMs === null ? "" : ", after its disk was erased";
  d.say("info", "retire-taken-back", `retirement was taken back by its owner${erased}`, state.request.id);
}

/** Work owed outside for what the record already says: done now, forgotten once it worked. */
function payDue(d: Draft): void {
  if (d.record.due.length === 0) return;
  const paid = d.record.due.filter((w) => {
    switch (w.do) {
      case "drop-config":
        d.effect({ do: "drop-config", deviceId: d.o.device.id, consumed: false });
        return true;
      case "delete-token":
        if (d.o.cluster === null) return false;
        d.effect({ do: "delete-token", id: w.id });
        return true;
      default: {
        if (d.o.cluster === null) return false;
        const { node, csrs } = d.o.cluster;
        if (node !== null && node.uid === w.uid) d.effect({ do: "delete-node", name: node.name, uid: node.uid });
        const name = `system:node:${nodeName(d.o.device, d.record)}`;
        for (const c of csrs)
          if (c.request?.commonName === name) d.effect({ do: "delete-csr", name: c.name, uid: c.uid });
        return true;
      }
    }
  });
  if (paid.length < d.record.due.length)
    d.condition("ClusterUnavailable", "cluster-unavailable", "waits for the workload cluster to delete what is owed");
  d.after((r) => ({
    ...r,
    due: r.due.filter((w) => !paid.some((p) => JSON.stringify(p) === JSON.stringify(w))),
    token:
      r.token !== null && paid.some((p) => p.do === "delete-token" && p.id === r.token?.id)
        ? { ...r.token, deletedAtMs: r.token.deletedAtMs ?? d.o.nowMs }
        : r.token,
  }));
}

/** A slot is kept while an unfinished disk run, or one about to start, needs it; where the fleet's memory was lost, taken again. */
function keepSlot(d: Draft, startsSoon: boolean): void {
  const deviceId = d.o.device.id;
  const slot = d.o.fleet.slots.find((s) => s.deviceId === deviceId);
  const { run, retire: retiring } = d.record;
  const needed = isUnfinished(run) && touchesDisk(run.kind);
  // One that was never enabled asks for a slot as all others do.
  if (slot === undefined && needed && run.enabledAtMs !== null && run === d.o.record.run)
    d.effect({ do: "take-slot", deviceId, run: run.name, unlimited: true });
  if (slot === undefined || startsSoon || needed) return;
  if (retiring !== null && retiring.offlineAtMs === null && retiring.erasedAtMs !== null) return;
  d.effect({ do: "free-slot", deviceId: d.o.device.id });
}

/**
 * Plans one device: snapshot, record and clock in; steps, conditions and journal lines out. The only place that decides.
 * @see spec/30-reconcile.md, spec/35-lifecycle-table.md
 */
export function planDevice(o: Observed): Plan {
  // Everything below goes by the record: what became of changed EKs and of a held request is written there first.
  const { changes, device, settings } = o;
  const log = { changes, netboxUser: settings.netboxUser };
  const newest = (kind: RequestKind) => newestEntry(kind, log);
  const record = withAcceptedRequest(device, withAcceptance(device, o.record, log), newest, o.nowMs);
  if (record !== o.record) return { steps: [{ do: "put-record", record }], again: true };
  const d = new Draft(o);
  if (o.record.absentSinceMs !== null) d.set(asPresent(o.record));
  if (inventoryWentBack(d)) return { steps: [{ do: "put-record", record: d.record }], again: true };
  const slotsBefore = o.fleet.slots.some((s) => s.deviceId === o.device.id);
  adoptOrphan(d);
  readByCsr(d);
  latchRun(d);
  settleServed(d);
  const isLost = statusLost(d);
  if (!isLost) configUpkeep(d);
  approveCsrs(d);
  endTokens(d);
  endStrayTokens(d);
  const runBefore = d.record.run;
  if (!isLost && !activate(d)) byStatus(d);
  continueStart(d);
  upkeep(d);
  settleHeldBack(d);
  holdNode(d);
  explain(d);
  changedUnder(d);
  payDue(d);
  showFields(d);
  keepSlot(d, slotsBefore && d.wantsAgain && runBefore?.phase !== "starting");
  return d.finish();
}
