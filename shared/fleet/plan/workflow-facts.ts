import type { ActionView, WorkflowView } from "../boot-plane.ts";

/** Actions that write no disk. Every other name counts as one that does: an owner's Template may bring new ones. */
const HARMLESS = new Set(["disk-guard", "wait-code", "next-boot", "reboot", "poweroff"]);

export function hasBegun(workflow: WorkflowView): boolean {
  return workflow.actions.some((a) => a.state !== "PENDING");
}

export function diskBegun(workflow: WorkflowView): boolean {
  return workflow.actions.some((a) => a.state !== "PENDING" && !HARMLESS.has(a.name));
}

/** The first action that is not SUCCESS: the one to name when a run fails. */
export function stuckAction(workflow: WorkflowView): ActionView | null {
  return workflow.actions.find((a) => a.state !== "SUCCESS") ?? null;
}

/**
 * True where every action is SUCCESS and none ended before the one in front of it: an agent can report SUCCESS after
 * FAILED, or for the last action alone, and the Workflow then says SUCCESS.
 * @see facts/kubernetes-tinkerbell.md "Workflow"
 */
export function succeededInOrder(workflow: WorkflowView): boolean {
  if (workflow.actions.length === 0) return false;
  let lastMs = 0;
  for (const a of workflow.actions) {
    if (a.state !== "SUCCESS" || a.stoppedAtMs === null || a.stoppedAtMs < lastMs) return false;
    lastMs = a.stoppedAtMs;
  }
  return true;
}

export interface Terminal {
  readonly state: "SUCCESS" | "FAILED" | "TIMEOUT";
  readonly action: string | null;
  readonly detail: string;
}

/** What the Workflow's state says of its end; a SUCCESS that its actions do not back is a failure. */
export function terminalOf(workflow: WorkflowView): Terminal | null {
  const stuck = stuckAction(workflow);
  switch (workflow.state) {
    case "SUCCESS":
      if (succeededInOrder(workflow)) return { state: "SUCCESS", action: null, detail: "" };
      return {
        state: "FAILED",
        action: stuck?.name ?? null,
        detail: stuck
          ? `the agent reported SUCCESS, but action ${stuck.name} is ${stuck.state}`
          : "the agent reported SUCCESS, but the actions did not end in order",
      };
    case "FAILED":
    case "TIMEOUT":
      return {
        state: workflow.state,
        // A boot Job that failed ends the Workflow before any action: none is to blame.
        action: hasBegun(workflow) ? (stuck?.name ?? null) : null,
        detail: [workflow.problem, stuck?.message ?? ""].filter((t) => t !== "").join(": "),
      };
    default:
      return null;
  }
}
