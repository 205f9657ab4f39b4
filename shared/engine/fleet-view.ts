import type { Device } from "../fleet/device.ts";
import { isVanished } from "../fleet/fleet-conditions.ts";
import { type DeviceRecord, newRecord } from "../fleet/record.ts";
import { inventory } from "./inventory.ts";
import { parseRecord } from "./records.ts";
import { seen } from "./seen.ts";
import type { World } from "./world.ts";

export interface FleetView {
  readonly fleet: readonly { readonly device: Device; readonly record: DeviceRecord }[];
  /** Records whose devices NetBox has no more, and which are not closed. */
  readonly vanished: readonly DeviceRecord[];
}

/**
 * Every device with its record, and what vanished, for look-ups, metrics and the page; the inventory may be a copy of
 * some seconds. A record that cannot be read hides itself alone: its device is shown without one, and said in the log.
 */
export async function wholeView(world: World): Promise<FleetView> {
  const stored = new Map((await world.records.all()).map((r) => [r.deviceId, r]));
  const fleet: { device: Device; record: DeviceRecord }[] = [];
  for (const device of await inventory(world)) {
    const found = stored.get(device.id);
    stored.delete(device.id);
    const record = found === undefined ? null : await seen(world, device.name, async () => parseRecord(found));
    fleet.push({ device, record: record ?? newRecord(device.id, device.name) });
  }
  const vanished: DeviceRecord[] = [];
  for (const one of stored.values()) {
    const record = await seen(world, "", async () => parseRecord(one));
    if (record !== null && isVanished(record)) vanished.push(record);
  }
  return { fleet, vanished };
}

/** Every device with its record. */
export async function fleetView(world: World): Promise<{ device: Device; record: DeviceRecord }[]> {
  return [...(await wholeView(world)).fleet];
}
