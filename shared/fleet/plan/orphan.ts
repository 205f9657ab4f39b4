import type { WorkflowView } from "../boot-plane.ts";
import { bootMac } from "../device.ts";
import { type DeviceRecord, isUnfinished, RUN_KINDS, type Run, type RunKind } from "../record.ts";
import { newRetire } from "../retire-record.ts";
import type { Draft } from "./draft.ts";
import { newRun } from "./new-run.ts";
import { hasBegun, terminalOf } from "./workflow-facts.ts";

function kindOf(workflow: WorkflowView): RunKind | null {
  return RUN_KINDS.find((kind) => kind === workflow.kind) ?? null;
}

function attemptOf(name: string): number {
  return Number(/-([1-9]\d{0,5})$/.exec(name)?.[1] ?? 1);
}

/** True where the record knows of the run that this Workflow was made for. */
function isKnown(workflow: WorkflowView, kind: RunKind, { lastRequests, run }: DeviceRecord): boolean {
  const last = kind === "attest" ? lastRequests.attest : lastRequests.install;
  if (last?.id !== workflow.requestId) return false;
  const isLaterAttempt =
    kind === "retire" && run?.request.id === workflow.requestId && attemptOf(workflow.name) > run.attempt;
  return !isLaterAttempt;
}

/** An enabled Workflow that the record lost, or never had: made after the last run that it knows, for another request. */
export function isOrphan(workflow: WorkflowView, record: DeviceRecord): boolean {
  const kind = kindOf(workflow);
  if (kind === null || workflow.requestId === "" || workflow.disabled) return false;
  const { run } = record;
  if (run?.name === workflow.name) return false;
  if (run !== null && workflow.createdAtMs <= run.startedAtMs) return false;
  return !isKnown(workflow, kind, record);
}

/** The last requests once this run was enabled: its own is used up, and never an older one brought back. */
export function usedUp(record: DeviceRecord, run: Run): DeviceRecord["lastRequests"] {
  const last = record.lastRequests;
  const stamped = { id: run.request.id, atMs: run.request.atMs };
  // A retirement may be older than what was asked and carried out since.
  const later = (known: typeof last.install) => (known !== null && known.atMs > stamped.atMs ? known : stamped);
  if (run.kind === "attest") return { ...last, attest: later(last.attest) };
  return { ...last, install: later(last.install) };
}

function adopted(d: Draft, workflow: WorkflowView, kind: RunKind): Run {
  const { device, changes } = d.o;
  const { createdAtMs, requestId } = workflow;
  return newRun(d, kind, {
    request: { id: requestId, atMs: changes?.find((c) => c.requestId === requestId)?.atMs ?? createdAtMs },
    attempt: attemptOf(workflow.name),
    name: workflow.name,
    phase: "waiting",
    mac: bootMac(device) ?? "",
    bootMode: workflow.bootJob !== null,
    startedAtMs: createdAtMs,
    enabledAtMs: createdAtMs,
    // What it was rendered from went with the record: there is nothing to compare its actions with.
    actionsChecked: true,
    verdictAtMs: null,
  });
}

/** The Workflow of a run that counts as withdrawn began all the same: another actor enabled it in that moment. */
function revive(d: Draft, run: Run): boolean {
  if (run.terminal?.state !== "WITHDRAWN") return false;
  const own = d.o.bootPlane?.workflows.find((w) => w.name === run.name);
  if (own === undefined || own.disabled || (!hasBegun(own) && terminalOf(own) === null)) return false;
  const next: Run = {
    ...run,
    phase: "waiting",
    enabledAtMs: run.enabledAtMs ?? d.o.nowMs,
    terminal: null,
    result: null,
  };
  d.set({ run: next, lastRequests: usedUp(d.record, next) });
  d.say("warning", "record-late", `${run.kind} began before it could be withdrawn: its record was late`, run.name);
  return true;
}

/**
 * A Workflow that bears fleetd's labels and has no record is written into the record first, running or finished, so that
 * its request is never carried out a second time.
 * @see spec/30-reconcile.md "Requests"; bugs/lifecycle.md 2
 */
export function adoptOrphan(d: Draft): void {
  const { bootPlane } = d.o;
  if (bootPlane === null) return;
  const { run } = d.record;
  if (run !== null && revive(d, run)) return;
  const own = bootPlane.workflows.find((w) => w.name === run?.name);
  // Nothing of a run that was never enabled is lost with it; any other is first seen to its end.
  const isNoMatter = run?.phase === "starting" && run.enabledAtMs === null && (own === undefined || own.disabled);
  if (isUnfinished(run) && !isNoMatter) return;
  const orphan = bootPlane.workflows
    .filter((w) => isOrphan(w, d.record))
    .sort((a, b) => b.createdAtMs - a.createdAtMs)[0];
  const kind = orphan === undefined ? null : kindOf(orphan);
  if (orphan === undefined || kind === null) return;
  const next = adopted(d, orphan, kind);
  d.set({ run: next, lastRequests: usedUp(d.record, next) });
  if (kind === "retire" && d.record.retire?.request.id !== next.request.id)
    d.set({ retire: { ...newRetire(next.request), failures: next.attempt - 1 } });
  d.say(
    "warning",
    "record-late",
    `Workflow ${orphan.name} had no record, which was lost or late: adopted as ${kind}, and its request is used up`,
    orphan.name,
  );
}
