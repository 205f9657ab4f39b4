import { boundUuid } from "../fleet/binding.ts";
import { conflictIn, type InventoryIndex, inventoryIndex } from "../fleet/conflicts.ts";
import type { Device } from "../fleet/device.ts";
import { isoTime } from "../fleet/moment.ts";
import type { DeviceRecord } from "../fleet/record.ts";
import { boundUuids, inventory } from "./inventory.ts";
import { parseRecord } from "./records.ts";
import type { World } from "./world.ts";

interface Known {
  readonly devices: readonly Device[];
  readonly index: InventoryIndex;
  /** When NetBox was asked; null for a copy of whoever asked. */
  readonly readAtMs: number | null;
  /** False where UUIDs are looked up a device at a time. */
  readonly hasUuids: boolean;
}

/** Above this all are read anew: it costs fewer calls. */
const MANY_MOVED = 1000;

/** What only the whole fleet tells: read when the first device asks, and brought up to now where a run is about to start. */
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

  /** How long ago NetBox was asked; infinite where it was not. */
  ageMs(): number {
    const readAtMs = this.#known?.readAtMs ?? null;
    return readAtMs === null ? Number.POSITIVE_INFINITY : this.#world.clock.nowMs() - readAtMs;
  }

  /** Brings it up to now: by what moved since it was read, else by reading all. @throws PortError */
  async readAfresh(): Promise<void> {
    const { netbox, clock, settings } = this.#world;
    const readAtMs = clock.nowMs();
    const known = this.#known;
    if (known !== null && known.readAtMs !== null && readAtMs >= known.readAtMs) {
      const since = isoTime(Math.max(known.readAtMs - settings.durations.walkSlackMs, 0));
      const { rows, parts } = await netbox.changedSince({ rows: since, parts: since });
      const ids = [...new Set([...rows.map((row) => row.id), ...parts])];
      if (ids.length <= MANY_MOVED) {
        const moved = ids.length === 0 ? [] : await netbox.devices(ids);
        const isMoved = new Set(ids);
        // A deleted one shares what it shared until all are read again: somebody waits a little, no run is wrong.
        this.#set([...known.devices.filter((d) => !isMoved.has(d.id)), ...moved], readAtMs);
        return;
      }
    }
    this.#set(await netbox.devices(), readAtMs);
  }

  /** What the device shares with another, or null. A copy of some seconds will do for saying so. @throws PortError */
  async conflictOf(device: Device, record: DeviceRecord): Promise<string | null> {
    const known = this.#known ?? this.#set(await inventory(this.#world), null);
    const uuid = boundUuid(device, record);
    if (uuid === null || known.hasUuids) return conflictIn(known.index, device, uuid);
    const holders = await this.#world.records.byUuid(uuid);
    const others = holders.filter((one) => one.deviceId !== device.id);
    if (others.length === 0) return conflictIn(known.index, device, null);
    const records = new Map(others.map((one) => [one.deviceId, parseRecord(one)] as const));
    return conflictIn(inventoryIndex(known.devices, boundUuids(known.devices, records)), device, uuid);
  }

  #set(devices: readonly Device[], readAtMs: number | null): Known {
    this.#known = { devices, index: inventoryIndex(devices, new Map()), readAtMs, hasUuids: false };
    return this.#known;
  }
}
