import { CLASSES } from "../fleet.ts";
import type { SimWorkflow } from "../peers/boot-plane.ts";
import type { Invariant } from "./_invariant.ts";
import { rowWas, touchesDisk } from "./truth.ts";

const DISK = /^(nvme\d{1,3}n\d{1,3}|sd[a-z]{1,2}|vd[a-z]{1,2}|mmcblk\d{1,2})$/;
const SERIAL = /^[A-Za-z0-9._-]{1,64}$/;

/** No disk-touching Workflow without disk, serial and a known class, or on a protected device; no install without a pin. */
export const gates: Invariant = {
  number: 2,
  on: (sim, event) => {
    if (event.kind !== "enabled" || !touchesDisk(event.workflow)) return null;
    const { workflow, by } = event;
    const { disk_device = "", disk_serial = "", installer, install } = workflow.manifest.spec.hardwareMap;
    if (!DISK.test(disk_device.replace("/dev/", "")) || !SERIAL.test(disk_serial))
      return `${workflow.name} writes to ${disk_device} (${disk_serial})`;
    if (install === "true" && !/@sha256:[0-9a-f]{64}$/.test(installer ?? "")) return `${workflow.name} has no pin`;
    const allowed = rowWas(
      sim,
      workflow.deviceId,
      by,
      (row) =>
        !row.protected &&
        DISK.test(row.installDisk ?? "") &&
        SERIAL.test(row.installDiskSerial ?? "") &&
        (workflow.kind === "retire" || Object.hasOwn(CLASSES, row.fleetClass ?? "")),
    );
    return allowed ? null : `${workflow.name} is enabled though its device is protected, or has no disk or class`;
  },
  // An owner's protected takes a request back that no machine has begun.
  atRest: (sim) => {
    const begun = (w: SimWorkflow) => w.actions.some((a) => a.state !== "PENDING");
    for (const w of sim.bootPlane.open())
      if (touchesDisk(w) && !begun(w) && sim.netbox.rows.get(w.deviceId)?.protected === true)
        return `${w.name} still waits for its machine though its device is protected`;
    return null;
  },
};
