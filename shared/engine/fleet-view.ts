import type { Device } from "../fleet/device.ts";
import { type DeviceRecord, newRecord } from "../fleet/record.ts";
import { inventory } from "./inventory.ts";
import { seen } from "./observe.ts";
import { parseRecord } from "./records.ts";
import type { World } from "./world.ts";

/**
 * Every device with its record, for look-ups, metrics and the page; the inventory may be a copy of some seconds. A record
 * that cannot be read hides itself alone: its device is shown without one, and said in the log.
 */
export async function fleetView(world: World): Promise<{ device: Device; record: DeviceRecord }[]> {
  const stored = new Map((await world.records.all()).map((r) => [r.deviceId, r]));
  const view: { device: Device; record: DeviceRecord }[] = [];
  for (const device of await inventory(world)) {
    const found = stored.get(device.id);
    const record = found === undefined ? null : await seen(world, device.name, async () => parseRecord(found));
    view.push({ device, record: record ?? newRecord(device.id, device.name) });
  }
  return view;
}
