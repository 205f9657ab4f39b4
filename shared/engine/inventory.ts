import { boundUuid } from "../fleet/binding.ts";
import {
  type Bound,
  conflictIn,
  type InventoryIndex,
  installConflictIn,
  inventoryIndex,
  namesakesIn,
} from "../fleet/conflicts.ts";
import type { Device } from "../fleet/device.ts";
import { nodeOf } from "../fleet/installed-name.ts";
import type { DeviceRecord } from "../fleet/record.ts";
import type { StoredRecord } from "../ports/records.ts";
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

/** The index with what the records say: who else has the UUID, or a Node of the name, is looked up there. */
export async function indexFor(
  { records }: Pick<World, "records">,
  { devices, index }: Indexed,
  deviceId: number,
  { uuid, nodeName }: { readonly uuid: string | null; readonly nodeName: string },
): Promise<InventoryIndex> {
  const found = [...(uuid === null ? [] : await records.byUuid(uuid)), ...(await records.byNode(nodeName))];
  const others = found.filter((one) => one.deviceId !== deviceId);
  if (others.length === 0) return index;
  return inventoryIndex(devices, bindingsOf(devices, readOf(others)));
}

function readOf(stored: readonly StoredRecord[]): ReadonlyMap<number, DeviceRecord> {
  return new Map(stored.map((one) => [one.deviceId, parseRecord(one)] as const));
}

type Judge = typeof conflictIn;

async function judged(
  world: World,
  deviceId: number,
  devices: readonly Device[],
  judge: Judge,
): Promise<string | null> {
  const device = devices.find((one) => one.id === deviceId);
  if (device === undefined) return null;
  const stored = await world.records.get(deviceId);
  const uuid = stored === null ? null : boundUuid(device, parseRecord(stored));
  const known = { devices, index: inventoryIndex(devices, new Map()) };
  return judge(await indexFor(world, known, deviceId, { uuid, nodeName: device.name }), device, uuid);
}

/** What the device shares with another of the fleet, or null. */
export async function conflictOf(world: World, deviceId: number, devices: readonly Device[]): Promise<string | null> {
  return judged(world, deviceId, devices, conflictIn);
}

/** The same for who is to be installed, or to be another's node: a Node that has its name counts, too. */
export async function installConflictOf(
  world: World,
  deviceId: number,
  devices: readonly Device[],
): Promise<string | null> {
  return judged(world, deviceId, devices, installConflictIn);
}

/** Other devices whose Node has the name, in words, or null; offline ones have none. The store is not asked. */
export async function othersInstalledAs(
  { records, netbox }: Pick<World, "records" | "netbox">,
  deviceId: number,
  name: string,
): Promise<string | null> {
  const others = (await records.byNode(name)).filter((one) => one.deviceId !== deviceId);
  if (others.length === 0) return null;
  const rows = await netbox.devices(others.map((one) => one.deviceId));
  return namesakesIn(inventoryIndex(rows, bindingsOf(rows, readOf(others))), { id: deviceId, name });
}

/** Device id → what its record binds; without those whose record binds nothing. */
export function bindingsOf(
  devices: readonly Device[],
  records: ReadonlyMap<number, DeviceRecord>,
): ReadonlyMap<number, Bound> {
  return new Map(
    devices.flatMap((device) => {
      const record = records.get(device.id);
      if (record === undefined) return [];
      const uuid = boundUuid(device, record);
      const node = nodeOf(record);
      return uuid === null && node === null ? [] : [[device.id, { uuid, node }] as const];
    }),
  );
}
