import type { ActionView } from "../../../shared/fleet/boot-plane.ts";
import type { Machine } from "../machine.ts";
import type { SimWorkflow } from "../peers/boot-plane.ts";
import type { Sim } from "../sim.ts";
import { isLetIn } from "./boot.ts";

const DISK_ACTIONS = new Set(["wipe", "install-talos", "erase"]);

type State = ActionView["state"];

function report(sim: Sim, workflow: SimWorkflow, states: readonly State[], state: SimWorkflow["state"]): void {
  const actions = workflow.actions.map((a, n): ActionView => {
    const now = states[n] ?? a.state;
    const started = a.startedAtMs ?? (now === "PENDING" ? null : sim.nowMs + n);
    const stopped = now === "SUCCESS" || now === "FAILED" ? (a.stoppedAtMs ?? sim.nowMs + n) : a.stoppedAtMs;
    return { ...a, state: now, startedAtMs: started, stoppedAtMs: stopped };
  });
  sim.bootPlane.change(workflow.name, { actions, state });
  const now = sim.bootPlane.workflows.get(workflow.name);
  const ends = actions.map((a) => (a.state === "SUCCESS" ? (a.stoppedAtMs ?? 0) : 0));
  // Whatever the agent did: this is its word, and fleetd has no other.
  const inOrder = ends.every((end, n) => end > 0 && end >= (ends[n - 1] ?? 0));
  if (state === "SUCCESS" && inOrder && now !== undefined) sim.emit({ kind: "succeeded", workflow: now });
}

/** What an action does to the machine; a word where it fails. */
function act(sim: Sim, machine: Machine, workflow: SimWorkflow, action: string): string | null {
  const { hardwareMap } = workflow.manifest.spec;
  if (DISK_ACTIONS.has(action)) {
    sim.emit({ kind: "disk", machine: machine.index, workflow, action });
    machine.disk = null;
    machine.config = null;
    machine.csr = null;
    machine.joined = false;
  }
  switch (action) {
    case "disk-guard":
      return hardwareMap.disk_serial === machine.diskSerial ? null : "the disk's serial is another";
    case "install-talos":
      machine.disk = { code: machine.code, run: workflow.name };
      machine.reads = 0;
      return null;
    default:
      return null;
  }
}

/** What becomes of the machine once the action is reported. */
function after(sim: Sim, machine: Machine, action: string): void {
  if (action === "poweroff") machine.powerOff();
  if (action !== "reboot") return;
  machine.powerOff();
  machine.powerOn(false);
  if (machine.running === "nothing") machine.powerOn(isLetIn(sim, machine));
}

/** An action that was given up is reported done after all: the Workflow says SUCCESS, and most of its actions do not. */
function revives(sim: Sim, machine: Machine): boolean {
  const over = [...sim.bootPlane.workflows.values()].find(
    (w) => w.agentId === machine.mac && (w.state === "FAILED" || w.state === "TIMEOUT") && w.actions.length > 0,
  );
  if (over === undefined) return false;
  const states = over.actions.map(({ state }, n) => (n === over.actions.length - 1 ? "SUCCESS" : state));
  report(sim, over, states, "SUCCESS");
  return true;
}

/** The agent does one thing for the Workflow that its machine is served; false where there is none. */
export function agentStep(sim: Sim, machine: Machine): boolean {
  if (machine.lie === "revives" && revives(sim, machine)) return true;
  const workflow = sim.bootPlane.open().find((w) => w.agentId === machine.mac && w.actions.length > 0);
  if (workflow === undefined) return false;
  const states = workflow.actions.map((a) => a.state);
  const n = states.findIndex((s) => s !== "SUCCESS");
  const action = workflow.actions[n];
  if (action === undefined) {
    report(sim, workflow, states, "SUCCESS");
    return true;
  }
  if (action.state === "PENDING" || action.state === "FAILED" || action.state === "TIMEOUT") {
    if (
      action.name === "wait-code" &&
      workflow.manifest.spec.hardwareMap.code_required === "true" &&
      machine.code === null
    )
      return false;
    states[n] = "RUNNING";
    report(sim, workflow, states, "RUNNING");
    return true;
  }
  const often = sim.themes.has("agents");
  const failure = act(sim, machine, workflow, action.name);
  const fails = failure !== null || (machine.lie === "fails" && n > 0 && sim.nowMs % (often ? 2 : 3) === 0);
  states[n] = fails ? "FAILED" : "SUCCESS";
  const last = n === states.length - 1;
  const { lie } = machine;
  if (lie === "backwards" && sim.nowMs % (often ? 2 : 5) === 0 && n > 1) {
    states[n - 1] = "RUNNING";
    report(sim, workflow, states, "RUNNING");
    return true;
  }
  if (fails && lie === "success-after-failed") {
    report(
      sim,
      workflow,
      states.map((s, i) => (i === states.length - 1 ? "SUCCESS" : s)),
      "SUCCESS",
    );
    return true;
  }
  if (lie === "skips" && (often || n === 1) && sim.nowMs % (often ? 2 : 4) === 0) {
    report(
      sim,
      workflow,
      states.map((s, i) => (i === states.length - 1 ? "SUCCESS" : s)),
      "SUCCESS",
    );
    return true;
  }
  if (lie === "unordered" && last && !fails) {
    const [first] = sim.bootPlane.workflows.get(workflow.name)?.actions ?? [];
    if (first !== undefined) {
      const later = { ...first, stoppedAtMs: sim.nowMs + 60_000 };
      sim.bootPlane.change(workflow.name, { actions: [later, ...workflow.actions.slice(1)] });
    }
  }
  const reported = sim.bootPlane.workflows.get(workflow.name) ?? workflow;
  report(sim, reported, states, fails ? "FAILED" : last ? "SUCCESS" : "RUNNING");
  if (!fails) after(sim, machine, action.name);
  return true;
}
