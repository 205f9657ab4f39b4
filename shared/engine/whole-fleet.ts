import { boundUuid } from "../fleet/binding.ts";
import { conflictIn, type InventoryIndex, inventoryIndex } from "../fleet/conflicts.ts";
import type { Device } from "../fleet/device.ts";
import type { DeviceRecord } from "../fleet/record.ts";
import { boundUuids, inventory } from "./inventory.ts";
import { parseRecord } from "./records.ts";
import type { World } from "./world.ts";

interface Known {
  readonly devices: readonly Device[];
  readonly index: InventoryIndex;
  readonly readAtMs: number;
  /** False where UUIDs are looked up a device at a time. */
  readonly hasUuids: boolean;
}

/** What only the whole fleet tells: read when the first device asks, and afresh where a run is about to start. */
export class WholeFleet {
  readonly #world: World;
  #known: Known | null = null;

  constructor(world: World) {
    this.#world = world;
  }

  /** Takes what a walk has read, so that nothing is read twice. */
  know(devices: readonly Device[], records: ReadonlyMap<number, DeviceRecord>, readAtMs: number): void {
    this.#known = { devices, index: inventoryIndex(devices, boundUuids(devices, records)), readAtMs, hasUuids: true };
  }

  /** How long ago it was read; infinite where it was not. */
  ageMs(): number {
    return this.#known === null ? Number.POSITIVE_INFINITY : this.#world.clock.nowMs() - this.#known.readAtMs;
  }

  /** Reads all of NetBox now. @throws PortError */
  async readAfresh(): Promise<void> {
    const readAtMs = this.#world.clock.nowMs();
    this.#set(await this.#world.netbox.devices(), readAtMs);
  }

  /** What the device shares with another, or null. A copy of some seconds will do for saying so. @throws PortError */
  async conflictOf(device: Device, record: DeviceRecord): Promise<string | null> {
    const known = this.#known ?? this.#set(await inventory(this.#world), Number.NEGATIVE_INFINITY);
    const uuid = boundUuid(device, record);
    if (uuid === null || known.hasUuids) return conflictIn(known.index, device, uuid);
    const holders = await this.#world.records.byUuid(uuid);
    const others = holders.filter((one) => one.deviceId !== device.id);
    if (others.length === 0) return conflictIn(known.index, device, null);
    const { devices } = known;
    const records = new Map(others.map((one) => [one.deviceId, parseRecord(one)] as const));
    return conflictIn(inventoryIndex(devices, boundUuids(devices, records)), device, uuid);
  }

  #set(devices: readonly Device[], readAtMs: number): Known {
    this.#known = { devices, index: inventoryIndex(devices, new Map()), readAtMs, hasUuids: false };
    return this.#known;
  }
}
