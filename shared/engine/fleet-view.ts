import type { Device } from "../fleet/device.ts";
import { type DeviceRecord, newRecord } from "../fleet/record.ts";
import { inventory } from "./observe.ts";
import { parseRecord } from "./records.ts";
import type { World } from "./world.ts";

/** Every device with its record, for look-ups, metrics and the page; the inventory may be a copy of some seconds. */
export async function fleetView(world: World): Promise<{ device: Device; record: DeviceRecord }[]> {
  const stored = new Map((await world.records.all()).map((r) => [r.deviceId, r]));
  return (await inventory(world)).map((device) => {
    const found = stored.get(device.id);
    return { device, record: found === undefined ? newRecord(device.id, device.name) : parseRecord(found) };
  });
}
