import { boundUuid } from "../fleet/binding.ts";
import { type Bound, conflictIn, type InventoryIndex, inventoryIndex } from "../fleet/conflicts.ts";
import type { Device } from "../fleet/device.ts";
import { installedAs } from "../fleet/installed-name.ts";
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

/** A reading of the fleet, indexed by what no two devices may share, but for what records alone tell. */
export interface Indexed {
  readonly devices: readonly Device[];
  readonly index: InventoryIndex;
}

/** The index with what the records say: who else has the UUID, or a Node of the device's name, is looked up there. */
export async function indexFor(
  { records }: Pick<World, "records">,
  { devices, index }: Indexed,
  { id, name }: Pick<Device, "id" | "name">,
  uuid: string | null,
): Promise<InventoryIndex> {
  const found = [...(uuid === null ? [] : await records.byUuid(uuid)), ...(await records.byNode(name))];
  const others = found.filter((one) => one.deviceId !== id);
  if (others.length === 0) return index;
  return inventoryIndex(
    devices,
    bound(devices, new Map(others.map((one) => [one.deviceId, parseRecord(one)] as const))),
  );
}

/** What the device shares with another of the fleet, or null. */
export async function conflictOf(world: World, deviceId: number, devices?: readonly Device[]): Promise<string | null> {
  const stored = await world.records.get(deviceId);
  const all = devices ?? (await inventory(world));
  const device = all.find((one) => one.id === deviceId);
  if (device === undefined) return null;
  const uuid = stored === null ? null : boundUuid(device, parseRecord(stored));
  const index = await indexFor(world, { devices: all, index: inventoryIndex(all, new Map()) }, device, uuid);
  return conflictIn(index, device, uuid);
}

/** Device id → what its record binds; without those whose record binds nothing. */
export function bound(
  devices: readonly Device[],
  records: ReadonlyMap<number, DeviceRecord>,
): ReadonlyMap<number, Bound> {
  return new Map(
    devices.flatMap((device) => {
      const record = records.get(device.id);
      if (record === undefined) return [];
      const uuid = boundUuid(device, record);
      const node = installedAs(record)?.name ?? null;
      return uuid === null && node === null ? [] : [[device.id, { uuid, node }] as const];
    }),
  );
}
