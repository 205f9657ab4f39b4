import type { Machine } from "../machine.ts";
import { at } from "../random.ts";
import type { Sim } from "../sim.ts";
import { deviceIdOf } from "./boot.ts";
import { post } from "./requests.ts";

/** One call of a renewal by the installed system; `asOther`: with the certificates of another machine. */
export async function renewAct(sim: Sim, machine: Machine, n: number, id: number, asOther: boolean): Promise<void> {
  if (machine.busy || machine.running !== "disk") return;
  const { life, renewing } = machine;
  const base = { door: "renew", machine, replica: n } as const;
  machine.busy = true;
  if (renewing === null) {
    const of = asOther ? at(sim.machines, machine.index + 1 + n) : machine;
    const shown = of.certificates;
    machine.busy = shown !== null;
    if (shown === null) return;
    return post(sim, id, { ...base, step: "begin", body: shown }, ({ status, body }) => {
      sim.say(`  ${machine.name}${of === machine ? "" : ` as ${of.name}`}: renew begin ${status}`);
      if (machine.life !== life) return;
      machine.busy = false;
      machine.renewing = status === 200 ? { answer: body, of } : null;
    });
  }
  const foreign = n % (sim.themes.has("failing") ? 2 : 5) === 0;
  const boot = foreign ? "os-foreign" : "os";
  const body = await machine.renewalBody(renewing.answer, boot);
  machine.renewing = null;
  const { of } = renewing;
  return post(sim, id, { ...base, step: "evidence", body }, ({ status, body: said }, task) => {
    const code = typeof said.code === "string" ? ` ${said.code}` : "";
    sim.say(`  ${machine.name}${of === machine ? "" : ` as ${of.name}`}: renew evidence (${boot}) ${status}${code}`);
    if (status === 200) sim.emit({ kind: "renewed", machine: machine.index, deviceId: deviceIdOf(of), boot, by: task });
    if (machine.life !== life) return;
    machine.busy = false;
    if (status === 200 && typeof said.ldevid === "string" && typeof said.lak === "string" && of === machine)
      machine.certificates = { ldevid: said.ldevid, lak: said.lak };
  });
}
