import { currentClasses } from "../../shared/engine/observe.ts";
import type { FleetClass } from "../../shared/fleet/class.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { frozenClass } from "../../shared/fleet/judged.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import type { Deps } from "../../shared/runtime/deps.ts";

/** The class that a boot is judged by: a frozen one, else as git has it now; null for an unknown one. */
export async function judgedClass(deps: Deps, device: Device, record: DeviceRecord | null): Promise<FleetClass | null> {
  const frozen = record === null ? null : frozenClass(device, record);
  if (frozen !== null) return frozen.class;
  const { classes } = await currentClasses(deps.world);
  const name = device.fleetClass;
  return name !== null && Object.hasOwn(classes, name) ? (classes[name] ?? null) : null;
}
