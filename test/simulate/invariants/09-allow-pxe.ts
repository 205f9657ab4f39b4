import { codeHash } from "../../../shared/attest/seal.ts";
import type { Sim } from "../sim.ts";
import type { Invariant } from "./_invariant.ts";
import { recordOf } from "./truth.ts";

/** The device's configuration of that code was read, by what its readers and its kubelet themselves say. */
function wasRead(sim: Sim, deviceId: number, hash: string): boolean {
  const isServed = (code: string) => sim.ledger.servings.has(code) && codeHash(code) === hash;
  const isOwn = (user: string) => sim.ledger.tokens.get(user.slice("system:bootstrap:".length))?.deviceId === deviceId;
  return (
    (sim.ledger.codes.get(deviceId) ?? []).some(isServed) || sim.cluster.csrList.some(({ username }) => isOwn(username))
  );
}

/**
 * The run that is over for fleetd though its Workflow may never end: by its own deadline, or (row 14) because its
 * configuration was read, which is success whatever the Workflow says later. The agent's last report is lost with the
 * machine's reboot often enough: an installed machine must not netboot for ever by it.
 */
function overOf(sim: Sim, deviceId: number): string | null {
  const record = recordOf(sim, deviceId);
  const run = record?.run;
  if (run == null || run.phase !== "ended") return null;
  if (run.terminal?.state === "DEADLINE") return run.name;
  const config = run.kind === "provision" && record?.config?.run === run.name ? record.config : null;
  return config?.state === "served" && wasRead(sim, deviceId, config.codeHash) ? run.name : null;
}

/** allowPXE is on exactly for devices with an unfinished enabled Workflow. */
export const allowPxe: Invariant = {
  number: 9,
  atRest: (sim) => {
    for (const hardware of sim.bootPlane.hardware.values()) {
      if (!sim.netbox.rows.has(hardware.deviceId)) continue;
      const over = overOf(sim, hardware.deviceId);
      const open = sim.bootPlane.open(hardware.deviceId).some((w) => w.name !== over);
      if (hardware.allowPxe && !open) return `${hardware.name} may netboot, and no Workflow waits`;
      const hasInterface = JSON.stringify(hardware.spec).includes("allowPXE");
      if (!hardware.allowPxe && open && hasInterface) return `${hardware.name} may not netboot, and a Workflow waits`;
    }
    return null;
  },
};
