import type { WorkflowView } from "../boot-plane.ts";
import { withJournal } from "../journal.ts";
import { machine } from "../manifests/machine.ts";
import { hardwareMap } from "../manifests/workflow.ts";
import { isUnfinished, type Run, touchesDisk } from "../record.ts";
import type { Draft } from "./draft.ts";
import { endRun, withdrawn, words } from "./run-end.ts";
import { actionsDiffer, expectedActions } from "./template-actions.ts";
import { diskBegun, hasBegun, stuckAction, terminalOf } from "./workflow-facts.ts";

function withdrawReason(d: Draft, run: Run): string | null {
  const { device } = d.o;
  if (touchesDisk(run.kind) && device.protected) return "the device became protected";
  if (run.kind === "retire") return device.status === "decommissioning" ? null : `the status is ${device.status} now`;
  return device.status === "planned" || device.status === "active" ? null : `the status is ${device.status} now`;
}

/** Compares the rendered actions with the Template's, once; a Workflow that differs is deleted and its run has failed. */
function checkActions(d: Draft, run: Run, workflow: WorkflowView): Run | null {
  if (run.actionsChecked || workflow.actions.length === 0 || d.o.template === null) return run;
  const expected = expectedActions(d.o.template, hardwareMap(run, d.o.settings));
  const difference = expected === null ? null : actionsDiffer(expected, workflow.actions);
  if (expected === null)
    d.say(
      "warning",
      "template-unreadable",
      `Template ${workflow.templateRef} is not in the form that fleetd can read: its actions are not compared`,
      run.name,
    );
  if (difference === null) {
    const checked = { ...run, actionsChecked: true };
    d.set({ run: checked });
    return checked;
  }
  d.removeWorkflow(workflow);
  d.say(
    "danger",
    "workflow-differs",
    `Workflow ${workflow.name} is not what its Template says: ${difference}; it is deleted`,
    run.name,
  );
  endRun(d, run, {
    // Deleting a Workflow does not stop an action that has begun.
    state: hasBegun(workflow) ? "STOPPED" : "FAILED",
    atMs: d.o.nowMs,
    action: null,
    detail: "its rendered actions differ from the Template",
  });
  return null;
}

/**
 * A Workflow whose run is over before any action began, or was stopped, goes: it is enabled, and a machine that turns
 * up later would take it, whatever its owner has set meanwhile. So does one of a run before: the run that should have
 * replaced it may have been withdrawn before it came to that.
 */
function removeOvertaken(d: Draft, run: Run): void {
  for (const workflow of d.o.bootPlane?.workflows ?? []) {
    const isStopped = workflow.name === run.name && run.terminal?.state === "STOPPED";
    if (terminalOf(workflow) === null && (isStopped || !hasBegun(workflow))) d.removeWorkflow(workflow);
  }
}

/** The run with what its Workflow shows to have begun; a disk action ends what was installed. */
function begun(d: Draft, run: Run, workflow: WorkflowView): Run {
  let now = run;
  if (hasBegun(workflow) && run.begunAtMs === null)
    now = { ...now, begunAtMs: d.o.nowMs, timeoutMs: workflow.timeoutMs };
  if (diskBegun(workflow) && !run.diskBegun) {
    now = { ...now, diskBegun: true };
    // A fast machine may have read this run's configuration before its first action was seen.
    if (d.record.installed?.run !== run.name) d.set({ installed: null });
  }
  return now;
}

/** A run that counts as ended may still be executing: what it does to the disk is noted all the same. */
function goesOnAfterEnd(d: Draft, run: Run): void {
  const workflow = d.o.bootPlane?.workflows.find((w) => w.name === run.name);
  if (workflow === undefined || run.terminal?.state === "SUCCESS") return;
  const now = begun(d, run, workflow);
  if (now !== run) d.set({ run: now });
}

/** Reads the enabled Workflow of the unfinished run: what began, what ended, what never will. */
export function latchRun(d: Draft): void {
  const { o } = d;
  const run = d.record.run;
  if (run?.phase === "ended") {
    goesOnAfterEnd(d, run);
    removeOvertaken(d, run);
  }
  if (!isUnfinished(run) || run.phase === "starting" || o.bootPlane === null) return;
  const workflow = o.bootPlane.workflows.find((w) => w.name === run.name);
  if (workflow === undefined) {
    endRun(d, run, { state: "STOPPED", atMs: o.nowMs, action: null, detail: "its Workflow is gone" });
    return;
  }
  let now = begun(d, run, workflow);
  if (now !== run) {
    now = { ...now, phase: "running" };
    d.set({ run: now });
    if (now.begunAtMs !== run.begunAtMs) d.say("info", "run-begun", `${run.kind} began on the machine`, run.name);
  }
  const checked = checkActions(d, now, workflow);
  if (checked === null) return;
  now = checked;
  const served = run.kind === "provision" && d.record.config?.run === run.name && d.record.config.state === "served";
  const end = terminalOf(workflow);
  if (end !== null || served) {
    endRun(d, now, { ...(end ?? { state: "SUCCESS", action: null, detail: "" }), atMs: o.nowMs });
    return;
  }
  const reason = now.begunAtMs === null ? withdrawReason(d, now) : null;
  if (reason !== null) {
    d.removeWorkflow(workflow);
    // Said once it is gone: a machine that takes it in this moment is not withdrawn from.
    d.after((r) => {
      if (r.run?.name !== now.name) return r;
      const ended = withdrawn(now, o.nowMs, reason);
      const text = words(d, ended, "withdrawn", { state: "WITHDRAWN", atMs: o.nowMs, action: null, detail: reason });
      return withJournal(
        { ...r, run: ended },
        [{ level: "warning", code: "run-withdrawn", text, about: ended.name }],
        o.nowMs,
      );
    });
    d.again();
    return;
  }
  const { durations } = o.settings;
  const bmc = machine(o.device, o.settings).ok;
  const notBegunMs = bmc ? durations.notBegunMs : durations.notBegunWithoutBmcMs;
  const deadlineMs =
    now.begunAtMs === null
      ? (now.enabledAtMs ?? now.startedAtMs) + notBegunMs
      : now.begunAtMs + now.timeoutMs + durations.begunSlackMs;
  if (o.nowMs > deadlineMs) {
    const action = now.begunAtMs === null ? null : (stuckAction(workflow)?.name ?? null);
    endRun(d, now, { state: "DEADLINE", atMs: o.nowMs, action, detail: "its own deadline passed" });
    d.again();
  }
}

/** A provision that ended with its configuration unread became whole when the configuration was served. */
export function settleServed(d: Draft): void {
  const { run, config } = d.record;
  if (run?.kind !== "provision" || run.result !== "unread" || config?.run !== run.name) return;
  if (config.state === "served") d.set({ run: { ...run, result: "success" } });
}
