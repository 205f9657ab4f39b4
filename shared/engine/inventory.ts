import { boundUuid } from "../fleet/binding.ts";
import { conflictIn, type InventoryIndex, inventoryIndex } from "../fleet/conflicts.ts";
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

/** A reading of the fleet, indexed by what no two devices may share but UUIDs. */
export interface Indexed {
  readonly devices: readonly Device[];
  readonly index: InventoryIndex;
}

/** What the device shares with another of the reading, or null; who else has its UUID is looked up in the records. */
export async function conflictAmong(
  world: Pick<World, "records">,
  { devices, index }: Indexed,
  device: Device,
  uuid: string | null,
): Promise<string | null> {
  const holders = uuid === null ? [] : await world.records.byUuid(uuid);
  const others = holders.filter((one) => one.deviceId !== device.id);
  if (others.length === 0) return conflictIn(index, device, null);
  const records = new Map(others.map((one) => [one.deviceId, parseRecord(one)] as const));
  return conflictIn(inventoryIndex(devices, boundUuids(devices, records)), device, uuid);
}

/** What the device shares with another of the fleet, or null. */
export async function conflictOf(world: World, deviceId: number, devices?: readonly Device[]): Promise<string | null> {
  const stored = await world.records.get(deviceId);
  const all = devices ?? (await inventory(world));
  const device = all.find((one) => one.id === deviceId);
  if (device === undefined) return null;
  const uuid = stored === null ? null : boundUuid(device, parseRecord(stored));
  return conflictAmong(world, { devices: all, index: inventoryIndex(all, new Map()) }, device, uuid);
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
