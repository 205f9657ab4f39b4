import { objectName } from "../device.ts";
import { offJob } from "../manifests/workflow.ts";
import { isoTime } from "../moment.ts";
import { isUnfinished } from "../record.ts";
import { askedRetire } from "../request.ts";
import { newRetire, type RetireRecord } from "../retire-record.ts";
import { backoffMs } from "./backoff.ts";
import type { Draft } from "./draft.ts";
import { drain, ownNode } from "./drain.ts";
import { hasBmc } from "./gates.ts";
import { offJobsMade } from "./gone.ts";
import { clearOvertaken, contextOf } from "./requests.ts";
import { endRun } from "./run-end.ts";
import { tryStart } from "./start.ts";

function seconds(ms: number): string {
  return `${Math.max(Math.round(ms / 1000), 1)} s`;
}

/**
 * Asks the BMC for "off" by a Job of a never reused name: its completion with Tasks of its own is the only evidence, a
 * failed one means unknown and is tried again after a back-off. Returns true once off.
 * @see spec/30-reconcile.md "Retirement" 1, 3
 */
function seenOff(d: Draft, retire: RetireRecord, base: string): boolean {
  const { o } = d;
  const { durations } = o.settings;
  const since = retire.offWaitSinceMs ?? o.nowMs;
  d.condition("RetirementWaits", "bmc-off", "waits until the BMC has turned the machine off", retire.request.id);
  if (o.nowMs - since > durations.offDangerMs)
    d.condition(
      "RetirementStuck",
      "bmc-off",
      // A text that counts would be written anew at every pass.
      `the BMC has not said off since ${isoTime(since)}`,
      retire.request.id,
    );
  if (retire.offJob === null) {
    if (retire.offNextTryAtMs !== null && o.nowMs < retire.offNextTryAtMs) return false;
    const n = offJobsMade(d.record) + 1;
    d.set({
      retire: { ...retire, offJobs: n, offJob: `${base}-off-${n}`, offWaitSinceMs: since, offNextTryAtMs: null },
    });
    d.again();
    return false;
  }
  const job = o.bootPlane?.jobs.find((j) => j.name === retire.offJob);
  if (job === undefined) {
    d.effect({ do: "create-job", manifest: offJob(o.device, retire.offJob, o.settings.namespace) });
    d.again();
    return false;
  }
  if (job.state === "completed" && job.tasksAreOwn) return true;
  // Rufio may leave a Job open for ever, with no word of why: after its time that is no answer either.
  const isOverdue = o.nowMs - job.createdAtMs > durations.offDangerMs;
  if (job.state === "open" && !isOverdue) return false;
  const offFailures = retire.offFailures + 1;
  const waitMs = backoffMs(offFailures, durations.retryFirstMs, durations.retryLastMs);
  d.set({ retire: { ...retire, offJob: null, offFailures, offNextTryAtMs: o.nowMs + waitMs } });
  d.say(
    "warning",
    `off-failed-${retire.offJobs}`,
    `the BMC did not confirm off (Job ${job.name}${job.problem === "" ? (job.state === "open" ? ": no answer" : "") : `: ${job.problem}`}): that counts as unknown; again in ${seconds(waitMs)}`,
    retire.request.id,
  );
  return false;
}

/** Rows 20 and 21: another run in the way. Returns true while it is. */
function otherRunInTheWay(d: Draft, retire: RetireRecord): boolean {
  const run = d.record.run;
  if (!isUnfinished(run) || run.kind === "retire") return false;
  // starting and not begun runs are withdrawn by their own rows, which see the status.
  if (run.begunAtMs === null) {
    d.again();
    return true;
  }
  if (!hasBmc(d.o)) {
    d.condition(
      "RetirementWaits",
      "run-in-the-way",
      `waits until ${run.kind} has ended: the device has no BMC`,
      run.name,
    );
    return true;
  }
  if (!seenOff(d, retire, run.name)) return true;
  if (!retire.offDone) {
    // What was read beside the Job may be older than its end: the run is read once more.
    d.set({ retire: { ...retire, offDone: true } });
    d.again();
    return true;
  }
  endRun(d, run, { state: "STOPPED", atMs: d.o.nowMs, action: null, detail: "powered off for retirement" });
  d.set({
    retire: { ...retire, offJob: null, offFailures: 0, offDone: false, offWaitSinceMs: null, offNextTryAtMs: null },
  });
  d.again();
  return true;
}

function erase(d: Draft, retire: RetireRecord): void {
  const { o } = d;
  if (isUnfinished(d.record.run)) {
    d.condition("RetirementWaits", "erasing", "the disk is being wiped and erased", retire.request.id);
    return;
  }
  if (retire.nextTryAtMs !== null && o.nowMs < retire.nextTryAtMs) {
    d.condition(
      "RetirementWaits",
      "back-off",
      `attempt ${retire.failures} failed; the next follows after a back-off`,
      `${retire.request.id}-${retire.failures}`,
    );
    return;
  }
  tryStart(d, "retire", { kind: "retire", ...retire.request }, false, retire.failures + 1);
}

function powerOff(d: Draft, retire: RetireRecord): void {
  const { o } = d;
  if (!hasBmc(o)) {
    d.set({ retire: { ...retire, offAtMs: o.nowMs } });
    d.say(
      "warning",
      "off-by-report",
      "the device has no BMC: that it is off is the agent's word alone",
      retire.request.id,
    );
    return d.again();
  }
  if (!seenOff(d, retire, `${objectName(o.device.id)}-retire-${retire.request.id.replaceAll("-", "").slice(0, 12)}`))
    return;
  d.set({ retire: { ...retire, offAtMs: o.nowMs, offFailures: 0, offSeen: false } });
  d.say("success", `off-${retire.offJobs}`, "the BMC turned the machine off after the erasure", retire.request.id);
  d.again();
}

/** Row 26: seen on, or attested, after the evidence: it is void. */
function voidEvidence(d: Draft, retire: RetireRecord, offAtMs: number): boolean {
  const bmc = d.o.bootPlane?.machines.find((m) => m.name === objectName(d.o.device.id));
  const on = retire.offSeen && bmc?.powerState === "on";
  if (!on && (d.record.lastSessionAtMs ?? 0) <= offAtMs) {
    if (!retire.offSeen && bmc?.powerState === "off") d.set({ retire: { ...retire, offSeen: true } });
    return false;
  }
  d.set({
    retire: {
      ...retire,
      offAtMs: null,
      offSeen: false,
      offJob: null,
      offWaitSinceMs: null,
      offNextTryAtMs: null,
      clusterCleanAtMs: null,
    },
  });
  d.say(
    "danger",
    `off-void-${retire.offJobs}`,
    "the machine was on again after the BMC had said off: evidence void",
    retire.request.id,
  );
  d.again();
  return true;
}

/**
 * Status decommissioning: rows 20 to 31, one at a time.
 * @see spec/35-lifecycle-table.md "Retirement"
 */
export function retire(d: Draft): void {
  const { o } = d;
  const state = d.record.retire;
  if (state === null || state.offlineAtMs !== null) {
    const asked = askedRetire(o.device, d.record, contextOf(d));
    if (asked.state === "fresh") {
      d.set({ retire: newRetire({ id: asked.request.id, atMs: asked.request.atMs }) });
      d.say(
        "info",
        "retire-requested",
        "retirement requested: erase, off, drain, records deleted, offline",
        asked.request.id,
      );
      d.again();
    } else if (asked.state === "unknown")
      d.condition("RequestsUnreadable", "change-log", "retirement waits: NetBox's change log cannot be read");
    else {
      const { name } = o.device;
      const text =
        asked.state === "held"
          ? `retirement is held: ${asked.reason}; set the status again, or fleetctl accept ${name}, to have it done`
          : "retirement is held: this very request was carried out before; set another status, then decommissioning again, to retire it once more";
      d.condition("RequestHeld", "request-held", text, "retire");
    }
    return;
  }
  if (o.device.desiredAction !== null)
    d.condition(
      "RequestWaits",
      "decommissioning",
      `${o.device.desiredAction} waits: the device is being retired`,
      state.request.id,
    );
  if (o.bootPlane === null) return;
  if (otherRunInTheWay(d, state)) return;
  if (state.erasedAtMs === null) return erase(d, state);
  if (state.offAtMs === null) return powerOff(d, state);
  if (voidEvidence(d, state, state.offAtMs)) return;
  if (state.clusterCleanAtMs === null || ownNode(d) !== null) return drain(d, d.record.retire ?? state);
  d.patch({ status: "offline" });
  clearOvertaken(d, state);
  d.again();
}

/** Status offline: closes a retirement that fleetd carried out, or one that an owner vouched for (row 33). */
export function retiredOffline(d: Draft): void {
  const state = d.record.retire;
  if (state === null) {
    if (d.record.installed !== null || d.record.run !== null)
      d.condition(
        "OfflineWithoutRetirement",
        "not-retired",
        "offline, but fleetd did not retire it: no renewal, not listed",
      );
    return;
  }
  if (state.offlineAtMs !== null) return;
  if (state.clusterCleanAtMs === null) {
    if (state.erasedAtMs === null)
      d.say("danger", "not-erased", "set offline by hand: not erased as far as fleetd knows", state.request.id);
    else if (state.offAtMs === null)
      d.say("danger", "not-off", "set offline by hand: erased, and not off as far as fleetd knows", state.request.id);
    return drain(d, state);
  }
  d.set({
    retire: { ...state, offlineAtMs: d.o.nowMs },
    installed: null,
    identity: null,
    pendingIdentity: null,
    replacedIdentity: null,
    quarantine: null,
    token: null,
    config: null,
    node: null,
    attention: null,
  });
  if (state.erasedAtMs !== null && state.offAtMs !== null)
    d.say("success", "retired", "retired: erased, off, out of the cluster, offline", state.request.id);
  else
    d.say(
      "warning",
      "closed-by-hand",
      `out of the cluster and offline by its owner's word: ${state.erasedAtMs === null ? "its disk was not erased by fleetd" : "its disk was erased, and nobody saw the machine off"}`,
      state.request.id,
    );
}
