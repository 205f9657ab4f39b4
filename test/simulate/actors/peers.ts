import { objectName } from "../../../shared/fleet/device.ts";
import type { Machine } from "../machine.ts";
import { at } from "../random.ts";
import type { Sim } from "../sim.ts";
import { isLetIn } from "./boot.ts";
import { kubeletStep, oddCsr } from "./kubelet.ts";

function machineOf(sim: Sim, deviceId: number): Machine | undefined {
  return sim.machines[deviceId - 1];
}

/** The controller looks at one enabled Workflow: the boot Job first where one was asked for, then the actions. */
function controller(sim: Sim, n: number): void {
  const waiting = sim.bootPlane.open().filter((w) => w.actions.length === 0);
  if (waiting.length === 0) return;
  const workflow = at(waiting, n);
  const { bootOptions } = workflow.manifest.spec;
  const machine = machineOf(sim, workflow.deviceId);
  if (bootOptions === undefined || machine === undefined) return sim.bootPlane.render(workflow.name);
  switch (machine.bmc) {
    case "good":
      break;
    case "slow":
      if (n % 3 !== 0) return sim.bootPlane.change(workflow.name, { state: "PREPARING" });
      break;
    case "refusing":
      if (n % 3 !== 0)
        return sim.bootPlane.change(workflow.name, { state: "FAILED", problem: "boot Job failed: the BMC refused" });
      break;
    default:
      return sim.bootPlane.change(workflow.name, { state: "PREPARING" });
  }
  sim.bootPlane.render(workflow.name);
  machine.powerOff();
  machine.powerOn(isLetIn(sim, machine));
}

/** Rufio works at an open Job. */
function rufio(sim: Sim, n: number): void {
  const open = [...sim.bootPlane.jobs.values()].filter((j) => j.state === "open");
  if (open.length === 0) return;
  const job = at(open, n);
  const machine = machineOf(sim, job.deviceId);
  if (machine === undefined) return;
  if (machine.bmc === "slow" && n % 3 !== 0) return;
  if (machine.bmc === "dead" && n % 4 !== 0) return;
  if (machine.bmc === "dead" || (machine.bmc === "refusing" && n % 2 === 0) || machine.bmc === null)
    return sim.bootPlane.changeJob(job.name, { state: "failed", problem: "the BMC did not answer" });
  // Tasks of an older Job of that name may be found: they prove nothing.
  if (n % 11 === 0) return sim.bootPlane.changeJob(job.name, { state: "completed", tasksAreOwn: false });
  machine.powerOff();
  sim.bootPlane.changeJob(job.name, { state: "completed", tasksAreOwn: true });
  sim.emit({ kind: "off-job", deviceId: job.deviceId, job: job.name, madeAtMs: job.createdAtMs });
}

/** Rufio's poll of a BMC, which may be half an hour old. */
function poll(sim: Sim, n: number): void {
  const machine = at(sim.machines, n);
  const answers = machine.bmc === "good" || machine.bmc === "slow";
  const powerState = !answers ? "unknown" : machine.running === "off" ? "off" : "on";
  sim.bootPlane.changeMachine(objectName(machine.index + 1), { powerState, contactable: answers });
}

/** Somebody at the cluster: nodes undo a cordon, pods' budgets give way, kubelets register again. */
function cluster(sim: Sim, n: number): void {
  const node = sim.cluster.nodeList[n % Math.max(sim.cluster.nodeList.length, 1)];
  if (node === undefined) return;
  switch (n % 4) {
    case 0:
      return sim.cluster.changeNode(node.name, { unschedulable: false });
    case 1:
      return sim.cluster.blocked.clear();
    case 2:
      return sim.cluster.changeNode(node.name, { unschedulable: true });
    default: {
      const machine = sim.machines.find((m) => m.config?.node === node.name);
      if (machine !== undefined && machine.running === "disk") kubeletStep(sim, machine, n);
    }
  }
}

/** One act of a peer that works by itself. */
export async function peerAct(sim: Sim, name: string, n: number): Promise<void> {
  switch (name) {
    case "controller":
      return controller(sim, n);
    case "timeout": {
      const running = sim.bootPlane.open().filter((w) => w.state === "RUNNING");
      if (running.length > 0) sim.bootPlane.change(at(running, n).name, { state: "TIMEOUT" });
      return;
    }
    case "rufio":
      return rufio(sim, n);
    case "old-tasks": {
      const open = [...sim.bootPlane.jobs.values()].filter((j) => j.state === "open");
      if (open.length > 0) sim.bootPlane.changeJob(at(open, n).name, { state: "completed", tasksAreOwn: false });
      return;
    }
    case "poll":
      return poll(sim, n);
    // What a BMC said long ago, or on a bad day.
    case "stale-power": {
      const { index } = at(sim.machines, n);
      return sim.bootPlane.changeMachine(objectName(index + 1), { powerState: n % 2 === 0 ? "off" : "on" });
    }
    case "cluster":
      return cluster(sim, n);
    case "odd-csr":
      return oddCsr(sim, at(sim.machines, n), Math.floor(n / sim.machines.length));
    case "land": {
      const [call] = sim.late.splice(n % Math.max(sim.late.length, 1), 1);
      if (call !== undefined) await sim.land(call);
      return;
    }
    default:
      throw new Error(`no act of a peer: ${name}`);
  }
}
