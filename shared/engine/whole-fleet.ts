import { boundUuid } from "../fleet/binding.ts";
import { type InventoryIndex, installConflictIn, inventoryIndex, othersNodeIn } from "../fleet/conflicts.ts";
import type { Device } from "../fleet/device.ts";
import { claimantOf } from "../fleet/installed-name.ts";
import { isEarlier, isoTime } from "../fleet/moment.ts";
import type { DeviceRecord } from "../fleet/record.ts";
import { newestOf } from "../fleet/walk.ts";
import { bindingsOf, type Indexed, indexFor, inventory } from "./inventory.ts";
import type { World } from "./world.ts";

interface Known extends Indexed {
  /** When NetBox was asked; null for a copy of whoever asked. */
  readonly readAtMs: number | null;
  /** When it had answered: a NetBox that takes long would else never be read late enough. */
  readonly answeredAtMs: number | null;
  /** False where what records say is looked up a device at a time. */
  readonly isWhole: boolean;
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
    const index = inventoryIndex(devices, bindingsOf(devices, records));
    this.#known = { devices, index, readAtMs, answeredAtMs: readAtMs, isWhole: true };
  }

  /** How long ago NetBox had answered; infinite where it was not asked. */
  ageMs(): number {
    const answeredAtMs = this.#known?.answeredAtMs ?? null;
    return answeredAtMs === null ? Number.POSITIVE_INFINITY : this.#world.clock.nowMs() - answeredAtMs;
  }

  /** Brings it up to now: by what moved since it was read, else by reading all. @throws PortError */
  async readAfresh(): Promise<void> {
    const { netbox, clock, settings } = this.#world;
    const readAtMs = clock.nowMs();
    const known = this.#known;
    if (known !== null && known.readAtMs !== null && readAtMs >= known.readAtMs) {
      const slack = isoTime(Math.max(known.readAtMs - settings.durations.walkSlackMs, 0));
      // NetBox's clock may be far behind: whatever moved since is newer than the newest row of then.
      const newest = newestOf(known.devices.map((d) => d.lastUpdated));
      const since = newest !== null && isEarlier(newest, slack) ? newest : slack;
      const { rows, parts } = await netbox.changedSince({ rows: since, parts: since });
      const then = new Map(known.devices.map((d) => [d.id, d.lastUpdated] as const));
      const moved = rows.filter((row) => then.get(row.id) !== row.lastUpdated).map((row) => row.id);
      const ids = [...new Set([...moved, ...parts])];
      if (ids.length <= MANY_MOVED) {
        const now = ids.length === 0 ? [] : await netbox.devices(ids);
        const isMoved = new Set(ids);
        // A deleted one shares what it shared until all are read again: somebody waits a little, no run is wrong.
        this.#set([...known.devices.filter((d) => !isMoved.has(d.id)), ...now], readAtMs);
        return;
      }
    }
    this.#set(await netbox.devices(), readAtMs);
  }

  /** What is in the way of a run of the device, or null. A copy of some seconds will do for saying so. @throws PortError */
  async conflictOf(device: Device, record: DeviceRecord): Promise<string | null> {
    const uuid = boundUuid(device, record);
    return installConflictIn(await this.#indexFor(device.id, uuid, device.name), device, uuid);
  }

  /** Whose the Node of the device's name rather is, or null. @throws PortError */
  async othersNodeOf(device: Device, record: DeviceRecord): Promise<string | null> {
    const claimant = claimantOf(device, record);
    return othersNodeIn(await this.#indexFor(device.id, null, claimant.name), claimant);
  }

  async #indexFor(deviceId: number, uuid: string | null, nodeName: string): Promise<InventoryIndex> {
    const known = this.#known ?? this.#set(await inventory(this.#world), null);
    return known.isWhole ? known.index : indexFor(this.#world, known, deviceId, { uuid, nodeName });
  }

  #set(devices: readonly Device[], readAtMs: number | null): Known {
    const answeredAtMs = readAtMs === null ? null : this.#world.clock.nowMs();
    this.#known = { devices, index: inventoryIndex(devices, new Map()), readAtMs, answeredAtMs, isWhole: false };
    return this.#known;
  }
}
