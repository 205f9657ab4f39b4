import type { ReasonOf } from "../condition.ts";
import { bootMac, objectName } from "../device.ts";
import { workflow as workflowManifest, workflowName } from "../manifests/workflow.ts";
import { isUnfinished, type Run, type RunKind, touchesDisk } from "../record.ts";
import type { Request } from "../request.ts";
import type { Draft } from "./draft.ts";
import { asksClusterToken, failingGate, hasBmc } from "./gates.ts";
import { newRun } from "./new-run.ts";
import { usedUp } from "./orphan.ts";
import { endRun } from "./run-end.ts";

/** True where a slot allows a disk run: its own counts as free, a first install counts but never waits (spec/30). */
function slotFree(
  d: Draft,
  kind: RunKind,
  run: string,
  atAdmission: boolean,
): { free: boolean; own: boolean; unlimited: boolean } {
  const { slots } = d.o.fleet;
  // One of an earlier run is none for this one: a first install's never counted against the bound.
  const own = slots.some((s) => s.deviceId === d.o.device.id && s.run === run);
  const others = slots.filter((s) => s.deviceId !== d.o.device.id);
  const unlimited = kind === "provision" && atAdmission && d.record.installed === null && d.record.config === null;
  return { own, unlimited, free: own || unlimited || others.length < d.o.settings.maxDiskRuns };
}

function waits(d: Draft, request: Request, code: ReasonOf<"RequestWaits">, text: string): void {
  d.condition("RequestWaits", code, `${request.kind} waits: ${text}`, request.id);
}

/** True for a run that was ended while it went on: its Workflow is gone, and its machine was told nothing of that. */
function mayStillRun({ terminal, begunAtMs }: Run): boolean {
  return begunAtMs !== null && (terminal?.state === "DEADLINE" || terminal?.state === "STOPPED");
}

/** What the run means for the cluster's Node, where it has one. */
function sayOfNode(d: Draft, run: Run): void {
  const { kind, name } = run;
  if (kind === "attest") return;
  const node = d.o.cluster?.node ?? null;
  if (node !== null && kind !== "retire")
    d.say("info", "node-cordoned", `node ${node.name} is cordoned for ${kind}, not drained`, name);
  const cls = d.record.installed?.class.class ?? run.class?.class;
  if (cls?.workload === "controlplane")
    d.say("warning", "etcd-member", "a control plane: removing its etcd member is its owner's to do", name);
  if (kind === "provision" && cls !== undefined && asksClusterToken(cls))
    d.say("warning", "cluster-token", "its class asks for the cluster-wide token, which its owner approved", name);
}

/** True where NetBox's second copy names this very run: the record went back to before it was enabled. */
function wasEnabledBySecondCopy(d: Draft, run: Run): boolean {
  const shown = d.o.device.shown.fleetRun;
  if (typeof shown !== "object" || shown === null || !("run" in shown) || !("result" in shown)) return false;
  return shown.run === run.name && shown.result !== "withdrawn";
}

/**
 * Rows 1 to 4: all gates, then one step at a time towards a run in phase `starting`. Says why where one is in the way.
 * @see spec/35-lifecycle-table.md "Requests → runs"
 */
export function tryStart(d: Draft, kind: RunKind, request: Request, atAdmission: boolean, from = 1): void {
  const { o } = d;
  const { device } = o;
  const gate = failingGate(o, kind);
  if (gate !== null) return waits(d, request, gate.code, gate.text);
  const mac = bootMac(device);
  if (mac === null) {
    d.condition("MacUnknown", "mac-unknown", `${request.kind} waits: no MAC is recorded yet`, request.id);
    return;
  }
  if (o.bootPlane === null) return;
  const bootMode = !atAdmission && hasBmc(o);
  const last = d.record.run;
  if (
    last !== null &&
    mayStillRun(last) &&
    !bootMode &&
    (d.record.lastSessionBegunAtMs ?? 0) <= (last.terminal?.atMs ?? 0)
  )
    return waits(d, request, "run-preparing", "the run before it may still be executing: netboot the machine");
  // A name is never used twice: a withdrawn attempt had this request too.
  const isAgain = last !== null && last.kind === kind && last.request.id === request.id;
  const attempt = Math.max(from, isAgain ? last.attempt + 1 : 1);
  const name = workflowName(device.id, kind, request.id, attempt);
  if (touchesDisk(kind)) {
    const slot = slotFree(d, kind, name, atAdmission);
    if (!slot.free) return waits(d, request, "slot", `all ${o.settings.maxDiskRuns} slots for disk runs are taken`);
    if (!slot.own) {
      d.effect({ do: "take-slot", deviceId: device.id, run: name, unlimited: slot.unlimited });
      return d.again();
    }
  }
  if (kind === "provision" || kind === "wipe") {
    if (o.cluster === null && d.record.installed !== null)
      return waits(
        d,
        request,
        "cluster-unavailable",
        "the workload cluster does not answer, and this device has a Node",
      );
    if (device.status === "active") {
      d.patch({ status: "planned" });
      d.say(
        "info",
        "set-planned",
        `set planned for ${kind}: no credential is renewed until it is installed again; SVIDs and certificates already out run to their end`,
        name,
      );
      return d.again();
    }
  }
  const node = o.cluster?.node ?? null;
  const replaces = kind === "provision" || kind === "wipe" || kind === "retire";
  const run = newRun(d, kind, {
    request: { id: request.id, atMs: request.atMs },
    attempt,
    name,
    phase: "starting",
    mac,
    bootMode,
    startedAtMs: o.nowMs,
    enabledAtMs: null,
    actionsChecked: false,
    verdictAtMs: atAdmission ? o.nowMs : null,
  });
  d.set({ run, node: replaces && node !== null ? { name: node.name, uid: node.uid } : d.record.node });
  const target = run.disk === null ? "" : ` on disk ${run.disk.device} (${run.disk.serial})`;
  d.say("info", "run-started", `${kind} started${target} for request ${request.id.slice(0, 8)}`, name);
  sayOfNode(d, run);
  d.again();
}

/** The fleet's memory was lost: others may have the slots by now. */
function takeSlotAgain(d: Draft, run: Run, { free, unlimited }: { free: boolean; unlimited: boolean }): void {
  if (free) d.effect({ do: "take-slot", deviceId: d.o.device.id, run: run.name, unlimited });
  else
    endRun(d, run, {
      state: "WITHDRAWN",
      atMs: d.o.nowMs,
      action: null,
      detail: "its slot was lost, and none is free",
    });
  d.again();
}

/** Row 3 from `starting` on, whichever of its steps is not visible yet; row 9a where a gate fails in between. */
export function continueStart(d: Draft): void {
  const { o } = d;
  const run = d.record.run;
  if (!isUnfinished(run) || run.phase !== "starting" || o.bootPlane === null) return;
  const own = o.bootPlane.workflows.find((w) => w.name === run.name);
  const gate = failingGate(o, run.kind);
  const status = o.device.status;
  const forbids = run.kind === "retire" ? status !== "decommissioning" : status !== "planned" && status !== "active";
  if ((gate !== null || forbids) && (own === undefined || own.disabled)) {
    if (own !== undefined) d.removeWorkflow(own);
    const detail = gate?.text ?? `the status is ${status} now`;
    endRun(d, run, { state: "WITHDRAWN", atMs: o.nowMs, action: null, detail });
    return d.again();
  }
  const others = o.bootPlane.workflows.filter((w) => w.deviceId === o.device.id && w.name !== run.name);
  if (others.length > 0) {
    for (const w of others) d.removeWorkflow(w);
    return d.again();
  }
  if (own === undefined && (run.enabledAtMs !== null || wasEnabledBySecondCopy(d, run))) {
    // It may have run: making it again would run one request twice.
    d.set({ lastRequests: usedUp(d.record, run) });
    endRun(d, run, { state: "STOPPED", atMs: o.nowMs, action: null, detail: "its Workflow is gone" });
    return d.again();
  }
  if (touchesDisk(run.kind) && (own === undefined || own.disabled)) {
    const slot = slotFree(d, run.kind, run.name, run.verdictAtMs !== null);
    if (!slot.own) return takeSlotAgain(d, run, slot);
  }
  if (own === undefined) {
    const hardware = o.bootPlane.hardware.find((h) => h.name === objectName(o.device.id));
    if (hardware?.allowPxe !== true) return; // upkeep writes it first, and looks again
    d.effect({ do: "create-workflow", manifest: workflowManifest(o.device, run, o.settings) });
    return d.again();
  }
  if (own.disabled) {
    if (run.enabledAtMs === null) d.set({ run: { ...run, enabledAtMs: o.nowMs } });
    d.effect({ do: "enable-workflow", name: own.name, uid: own.uid, resourceVersion: own.resourceVersion });
    return d.again();
  }
  d.set({ run: { ...run, phase: "waiting", enabledAtMs: o.nowMs }, lastRequests: usedUp(d.record, run) });
  d.again();
}
