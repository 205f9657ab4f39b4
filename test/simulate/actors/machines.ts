import { parse } from "yaml";
import type { Machine } from "../machine.ts";
import type { Sim } from "../sim.ts";
import { agentStep } from "./agent.ts";
import { deviceIdOf, isLetIn } from "./boot.ts";
import { kubeletStep } from "./kubelet.ts";
import { renewAct } from "./renew.ts";
import { fetchConfig, post } from "./requests.ts";

type Act = { readonly machine: Machine; readonly n: number; readonly id: number };

/** Attestation, one request after the other; a refusal begins anew. */
async function attestStep(sim: Sim, { machine, n, id }: Act): Promise<void> {
  const { phase, answer } = machine;
  const step = phase === "agent" ? "begin" : phase;
  const body =
    step === "begin" || answer === null
      ? machine.beginBody()
      : step === "evidence"
        ? await machine.evidenceBody(answer)
        : machine.confirmBody(answer);
  const life = machine.life;
  const deviceId = deviceIdOf(machine);
  machine.busy = true;
  await post(sim, id, { step, body, machine, replica: n }, (reply, task) => {
    const { status, body: said } = reply;
    const told = { machine: machine.index, deviceId, by: task };
    if (step === "evidence" && status === 200 && typeof said.ldevid === "string") sim.emit({ kind: "issued", ...told });
    const installs = step === "confirm" && status === 200 && said.outcome === "install";
    if (installs) {
      const code = machine.unwrap(said);
      sim.ledger.secrets.add(code);
      sim.ledger.codes.set(deviceId, [...(sim.ledger.codes.get(deviceId) ?? []), code]);
      sim.emit({ kind: "coded", ...told });
    }
    sim.say(`  ${machine.name}: ${step} ${status}${typeof said.code === "string" ? ` ${said.code}` : ""}`);
    if (machine.life !== life) return;
    machine.busy = false;
    machine.refusals = status === 200 ? (step === "confirm" ? 0 : machine.refusals) : machine.refusals + 1;
    machine.answer = status === 200 ? said : null;
    if (step === "evidence" && typeof said.ldevid === "string" && typeof said.lak === "string")
      machine.offered = { ldevid: said.ldevid, lak: said.lak };
    machine.phase =
      status !== 200 ? "begin" : step === "begin" ? "evidence" : step === "evidence" ? "confirm" : "agent";
    if (installs) machine.code = sim.ledger.codes.get(deviceId)?.at(-1) ?? null;
  });
}

/** Talos: its configuration first, then the kubelet. */
async function systemStep(sim: Sim, act: Act): Promise<void> {
  const { machine } = act;
  if (machine.config !== null) return kubeletStep(sim, machine, act.n);
  if (machine.disk !== null && machine.disk.code !== null)
    return readConfig(sim, act, machine.address, act.n % 4 === 0);
}

async function readConfig(sim: Sim, { machine, n, id }: Act, address: string, breaks: boolean): Promise<void> {
  const code = machine.disk?.code ?? null;
  if (code === null) return;
  const { life, uuid } = machine;
  const own = address === machine.address;
  machine.reads++;
  if (own) machine.busy = true;
  const deviceId = deviceIdOf(machine);
  await fetchConfig(sim, id, { machine, uuid, code, address, breaks, replica: n, deviceId }, (status, text) => {
    sim.say(`  ${machine.name}: configuration ${status}`);
    if (machine.life !== life || !own) return;
    machine.busy = false;
    if (text === null || machine.disk === null) return;
    const config = parse(text.split("\n---")[0] ?? "") as { cluster?: { token?: string } };
    const host = /^hostname: (.*)$/m.exec(text)?.[1] ?? "";
    machine.certificates = machine.offered;
    machine.config = { token: config.cluster?.token ?? null, node: host, run: machine.disk.run };
  });
}

/** What comes next for the machine by itself. */
async function next(sim: Sim, act: Act): Promise<void> {
  const { machine } = act;
  if (machine.busy) return;
  if (machine.running === "disk") return systemStep(sim, act);
  if (machine.running !== "hookos") return;
  if (machine.phase !== "agent") return attestStep(sim, act);
  if (!agentStep(sim, machine)) machine.phase = act.n % 5 === 0 ? "begin" : "agent";
}

/** A machine that is not what it says: another's serial and UUID, or another's serial alone. */
async function impostor(sim: Sim, { machine, n, id }: Act): Promise<void> {
  const victim = sim.machines[(machine.index + 1 + n) % sim.machines.length];
  if (victim === undefined || victim === machine) return;
  const as = { serial: victim.serial, uuid: n % 2 === 0 ? victim.uuid : machine.uuid };
  await post(sim, id, { step: "begin", body: machine.beginBody(as), machine, replica: n }, (reply) => {
    sim.say(`  ${machine.name} as ${victim.name}: begin ${reply.status}`);
    if (reply.status === 200) sim.stolen = { begun: reply.body, thief: machine, victim };
  });
}

async function impostorGoesOn(sim: Sim, { n, id }: Act): Promise<void> {
  const { stolen } = sim;
  if (stolen === null) return;
  sim.stolen = null;
  const { thief, victim, begun } = stolen;
  const body = await thief.evidenceBody(begun);
  await post(sim, id, { step: "evidence", body, machine: thief, replica: n }, (reply, task) => {
    sim.say(`  ${thief.name} as ${victim.name}: evidence ${reply.status}`);
    if (reply.status === 200)
      sim.emit({ kind: "issued", machine: thief.index, deviceId: deviceIdOf(victim), by: task });
  });
}

/** One act of a machine. */
export async function machineAct(sim: Sim, name: string, act: Act): Promise<void> {
  const { machine, n } = act;
  switch (name) {
    case "next":
      return next(sim, act);
    case "netboot":
      machine.powerOff();
      machine.bootKind = n % (sim.themes.has("failing") ? 3 : 12) === 0 ? "foreign" : "good";
      return machine.powerOn(true);
    case "power-cycle":
      machine.powerOff();
      return machine.powerOn(isLetIn(sim, machine));
    case "off":
      return machine.powerOff();
    case "renew":
    case "renew-as":
      return renewAct(sim, machine, n, act.id, name === "renew-as");
    case "read-elsewhere":
      return readConfig(sim, act, "10.0.0.99", n % 2 === 0);
    case "read-again":
      if (!machine.busy && machine.running === "disk") return readConfig(sim, act, machine.address, n % 3 === 0);
      return;
    case "guess": {
      const other = sim.machines[n % sim.machines.length];
      const code = machine.disk?.code;
      if (other === undefined || code == null || other === machine) return;
      const ask = { machine, uuid: other.uuid, code, address: machine.address, breaks: false, replica: n };
      return fetchConfig(sim, act.id, { ...ask, deviceId: deviceIdOf(other) }, () => undefined);
    }
    case "impostor":
      return n % 3 === 0 ? impostorGoesOn(sim, act) : impostor(sim, act);
    default:
      throw new Error(`no act of a machine: ${name}`);
  }
}
