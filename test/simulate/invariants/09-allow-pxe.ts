import type { Invariant } from "./_invariant.ts";
import { recordOf } from "./truth.ts";

/** allowPXE is on exactly for devices with an unfinished enabled Workflow. */
export const allowPxe: Invariant = {
  number: 9,
  atRest: (sim) => {
    for (const hardware of sim.bootPlane.hardware.values()) {
      if (!sim.netbox.rows.has(hardware.deviceId)) continue;
      // A run that its own deadline ended is over for fleetd, though its Workflow may never end.
      const run = recordOf(sim, hardware.deviceId)?.run;
      const over = run?.terminal?.state === "DEADLINE" ? run.name : "";
      const open = sim.bootPlane.open(hardware.deviceId).some((w) => w.name !== over);
      if (hardware.allowPxe && !open) return `${hardware.name} may netboot, and no Workflow waits`;
      const hasInterface = JSON.stringify(hardware.spec).includes("allowPXE");
      if (!hardware.allowPxe && open && hasInterface) return `${hardware.name} may not netboot, and a Workflow waits`;
    }
    return null;
  },
};
