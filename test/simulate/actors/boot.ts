import type { Machine } from "../machine.ts";
import type { Sim } from "../sim.ts";

/** Whether the boot plane lets the machine's MAC boot from the network. */
export function isLetIn(sim: Sim, machine: Machine): boolean {
  return [...sim.bootPlane.hardware.values()].some(
    (h) => h.allowPxe && JSON.stringify(h.spec).includes(`"${machine.mac}"`),
  );
}

/** The device that NetBox means by the machine's serial, whatever it is bound to. */
export function deviceIdOf(machine: Machine): number {
  return machine.index + 1;
}
