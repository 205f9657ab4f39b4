import type { FrozenClass } from "./class.ts";
import type { Device } from "./device.ts";
import { type DeviceRecord, isUnfinished } from "./record.ts";

/** The class that was installed, while it counts: once the device is planned, the next provision's does. */
export function installedClass(
  device: Pick<Device, "status">,
  record: Pick<DeviceRecord, "installed">,
): FrozenClass | null {
  return device.status === "planned" ? null : (record.installed?.class ?? null);
}

/**
 * The frozen class that judges this device's boots: the unfinished run's, or the installed one. null: what NetBox names
 * now counts, since nothing is installed that an edit of `fleet_class` could take out of its quarantine.
 * @see spec/00-overview.md "Classes": a changed class waits for the next provision
 */
export function frozenClass(
  device: Pick<Device, "status">,
  record: Pick<DeviceRecord, "run" | "installed">,
): FrozenClass | null {
  const running = isUnfinished(record.run) ? record.run.class : null;
  return running ?? installedClass(device, record);
}
