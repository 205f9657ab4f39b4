import type { Device } from "../../shared/fleet/device.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import type { Decision } from "./decision.ts";
import { recordOf } from "./invariants/truth.ts";
import type { Machine } from "./machine.ts";
import type { Random } from "./random.ts";
import type { Sim } from "./sim.ts";

/** One look at the world, for who wants to do the wrong thing at the right moment. */
export interface Look {
  readonly sim: Sim;
  readonly random: Random;
  readonly id: number;
  readonly n: number;
}
export type Hunt = (look: Look) => Decision | null;

/** One of the machines of which it holds, or null. */
export function some(
  { sim, random }: Look,
  holds: (machine: Machine, record: DeviceRecord | null) => boolean,
): Machine | null {
  const found = sim.machines.filter((machine) => holds(machine, recordOf(sim, machine.index + 1)));
  return found.length === 0 ? null : random.pick(found);
}

/** An owner's act on the machine's device. */
export const owner = ({ n }: Look, act: string, { index }: Machine): Decision => ({
  do: "owner",
  act,
  device: index,
  n,
});
/** A machine's act. */
export const acts = ({ n, id }: Look, act: string, { index }: Machine): Decision => ({
  do: "machine",
  act,
  machine: index,
  n,
  id,
});
/** A large trouble. */
export const trouble = ({ n }: Look, act: string): Decision => ({ do: "trouble", act, n });
/** An act of a peer. */
export const peer = ({ n }: Look, act: string): Decision => ({ do: "peer", act, n });

/** What NetBox says of the machine now. */
export function rowOf({ sim }: Look, { index }: Machine): Device | undefined {
  return sim.netbox.rows.get(index + 1);
}

/** Something of a row that no gate lets pass. */
export function isHarmed(look: Look, machine: Machine): boolean {
  const row = rowOf(look, machine);
  return (
    row !== undefined &&
    (row.protected || row.installDiskSerial !== machine.diskSerial || row.serial !== machine.serial)
  );
}

/** Whether the device asks for something. */
export function asks(look: Look, machine: Machine): boolean {
  const row = rowOf(look, machine);
  return row !== undefined && (row.desiredAction !== null || row.status === "decommissioning");
}

/** The death of a process that may be starting a run. */
export function killed({ sim, random }: Look): Decision | null {
  const tasks = [...sim.tasks.values()];
  const found = tasks.flatMap((task, n) => (["pass", "confirm", "webhook"].includes(task.kind) ? [n] : []));
  return found.length === 0 ? null : { do: "trouble", act: "kill", n: random.pick(found) };
}

/** What brings a device on: its machine's next act, the controller, Rufio. */
export function onward(look: Look): Decision | null {
  const { random } = look;
  const busy = some(look, (m) => look.sim.bootPlane.open(m.index + 1).length > 0);
  if (busy === null) return null;
  const act = random.weighted([
    ["machine", 5],
    ["controller", 2],
    ["rufio", 1],
  ] as const);
  return act === "machine" ? acts(look, "next", busy) : peer(look, act);
}

/** Installed, its configuration unread as far as it knows. */
export function isReader(machine: Machine): boolean {
  return machine.running === "disk" && machine.disk?.code != null && machine.config === null && machine.reads < 4;
}

/** Devices to their configuration: machines that idle are started, those that are asked to go on do. */
export function bringsToReading(look: Look): Decision | null {
  const { random } = look;
  if (random.chance(0.6)) return onward(look);
  const reader = some(look, (m) => isReader(m));
  if (reader !== null) return acts(look, "next", reader);
  const idle = some(look, (m) => m.config !== null && rowOf(look, m)?.desiredAction === null);
  return idle !== null && random.chance(0.3) ? owner(look, "provision", idle) : null;
}
