import { boundUuid } from "../fleet/binding.ts";
import { conflictIn, inventoryIndex } from "../fleet/conflicts.ts";
import type { Device } from "../fleet/device.ts";
import type { DeviceRecord } from "../fleet/record.ts";
import { parseRecord } from "./records.ts";
import { seen } from "./seen.ts";
import type { World } from "./world.ts";

/** The inventory as the store's copy of at most `inventoryCopyMs` has it, else read, and copied where the store answers. */
export async function inventory(world: World): Promise<Device[]> {
  const { store, netbox, settings } = world;
  const copy = await seen(world, "", () => store.get("inventory"));
  if (copy !== null) return JSON.parse(copy) as Device[];
  const devices = await netbox.devices();
  await seen(world, "", () => store.put("inventory", JSON.stringify(devices), settings.durations.inventoryCopyMs));
  return devices;
}

/** What the device shares with another of the fleet, or null; its UUID is looked up in the records. */
export async function conflictOf(world: World, deviceId: number, devices?: readonly Device[]): Promise<string | null> {
  const stored = await world.records.get(deviceId);
  const uuid = stored === null ? null : parseRecord(stored).uuid;
  const holders = uuid === null ? [] : await world.records.byUuid(uuid);
  const all = devices ?? (await inventory(world));
  const device = all.find((one) => one.id === deviceId);
  if (device === undefined) return null;
  const records = new Map(holders.map((h) => [h.deviceId, parseRecord(h)] as const));
  const uuids = boundUuids(all, records);
  return conflictIn(inventoryIndex(all, uuids), device, uuids.get(deviceId) ?? null);
}

/** Device id → the UUID that binds it. */
export function boundUuids(
  devices: readonly Device[],
  records: ReadonlyMap<number, DeviceRecord>,
): ReadonlyMap<number, string> {
  return new Map(
    devices.flatMap((device) => {
      const record = records.get(device.id);
      const uuid = record === undefined ? null : boundUuid(device, record);
      return uuid === null ? [] : [[device.id, uuid] as const];
    }),
  );
}
