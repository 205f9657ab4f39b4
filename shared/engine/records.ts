import { isName } from "../fleet/conflicts.ts";
import type { Device } from "../fleet/device.ts";
import { type FleetRecord, fleetRecordSchema, newFleetRecord } from "../fleet/fleet-record.ts";
import { installedAs } from "../fleet/installed-name.ts";
import { isoTime, momentMicros } from "../fleet/moment.ts";
import { type DeviceRecord, newRecord, recordSchema } from "../fleet/record.ts";
import { newestOf } from "../fleet/walk.ts";
import { isPortError, PortError } from "../ports/error.ts";
import type { RecordsPort, StoredRecord } from "../ports/records.ts";
import { seen } from "./seen.ts";
import type { World } from "./world.ts";

const WRITE_TRIES = 6;

/** A record as it stands, with the resourceVersion of its next write (null: not stored yet). */
export interface Loaded {
  readonly record: DeviceRecord;
  readonly resourceVersion: string | null;
  /** Its labels: a pass has to look at the device; the name that its Node was installed with. */
  readonly open: boolean;
  readonly node: string | null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @throws PortError rejected where the text is no record: it is left as it is, never overwritten. */
export function parseRecord(stored: StoredRecord): DeviceRecord {
  const parsed = recordSchema.safeParse(jsonOf(stored.text));
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join(".") ?? "";
  throw new PortError("rejected", "records", `fleetd-${stored.deviceId} is no record of this version (${where})`);
}

/**
 * The records of devices, new ones for those without; one that cannot be read is missing and said. The texts of those that
 * were read are let go: of a large fleet they are as large as the records.
 */
export async function recordsOf(
  world: Pick<World, "event">,
  devices: readonly Pick<Device, "id" | "name">[],
  stored: Map<number, StoredRecord>,
): Promise<Map<number, DeviceRecord>> {
  const records = new Map<number, DeviceRecord>();
  for (const { id, name } of devices) {
    const found = stored.get(id);
    const record = found === undefined ? newRecord(id, name) : await seen(world, name, async () => parseRecord(found));
    if (record === null) continue;
    records.set(id, record);
    if (found !== undefined) stored.set(id, { ...found, text: "" });
  }
  return records;
}

/** The name of the device's Node as a label can hold it: a certificate of another issuer may name what no device is called. */
export function nodeLabel(record: DeviceRecord): string | null {
  const name = installedAs(record)?.name ?? "";
  return isName(name) ? name : null;
}

export async function loadRecord(records: RecordsPort, device: Pick<Device, "id" | "name">): Promise<Loaded> {
  const stored = await records.get(device.id);
  return stored === null
    ? { record: newRecord(device.id, device.name), resourceVersion: null, open: false, node: null }
    : { ...stored, record: parseRecord(stored) };
}

/** `open`: whether a pass has to look at the device; all but a pass that has just looked says so. */
export async function storeRecord(
  records: RecordsPort,
  record: DeviceRecord,
  resourceVersion: string | null,
  open = true,
): Promise<Loaded> {
  const { deviceId, name, uuid } = record;
  const node = nodeLabel(record);
  const stored = await records.put({ deviceId, name, uuid, node, open, text: JSON.stringify(record) }, resourceVersion);
  return { record, resourceVersion: stored.resourceVersion, open, node };
}

/**
 * Reads, changes and writes a device's record until no other writer came between. The change is pure and decides on the
 * record it is given; null leaves the record as it is.
 * @throws PortError
 */
export async function updateRecord(
  world: Pick<World, "records">,
  device: Pick<Device, "id" | "name">,
  change: (record: DeviceRecord) => DeviceRecord | null,
): Promise<DeviceRecord> {
  for (let tries = 1; ; tries++) {
    const loaded = await loadRecord(world.records, device);
    const next = change(loaded.record);
    if (next === null || next === loaded.record) return loaded.record;
    try {
      return (await storeRecord(world.records, next, loaded.resourceVersion)).record;
    } catch (error) {
      if (!isPortError(error, "conflict") || tries >= WRITE_TRIES) throw error;
    }
  }
}

export interface LoadedFleet {
  readonly fleet: FleetRecord;
  readonly resourceVersion: string | null;
}

/** @throws PortError rejected where the text is no record of the fleet */
export function parseFleet({ text }: Pick<StoredRecord, "text">): FleetRecord {
  const parsed = fleetRecordSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new PortError("rejected", "records", "fleetd-fleet is no record of this version");
}

/** Now, or the moment of NetBox's newest row: requests bear NetBox's time, and this process' clock may be behind it. */
async function epochMs({ netbox, clock }: Pick<World, "netbox" | "clock">): Promise<number> {
  const nowMs = clock.nowMs();
  const since = isoTime(nowMs);
  const { rows } = await netbox.changedSince({ rows: since, parts: since });
  const newest = newestOf(rows.map((row) => row.lastUpdated));
  return Math.max(nowMs, newest === null ? 0 : Math.ceil((momentMicros(newest) ?? 0) / 1000));
}

/**
 * The fleet's memory; where there is none it begins now, and older requests are held (spec/30, "Requests").
 * @throws PortError
 */
export async function loadFleet(world: Pick<World, "records" | "netbox" | "clock">): Promise<LoadedFleet> {
  let stored = await world.records.fleet();
  if (stored === null) {
    const fleet = newFleetRecord(await epochMs(world));
    try {
      const made = await world.records.putFleet(JSON.stringify(fleet), null);
      return { fleet, resourceVersion: made.resourceVersion };
    } catch (error) {
      // Another pass began the memory in the same moment: its epoch counts.
      if (!isPortError(error, "conflict")) throw error;
      stored = await world.records.fleet();
      if (stored === null) throw error;
    }
  }
  return { fleet: parseFleet(stored), resourceVersion: stored.resourceVersion };
}

export async function updateFleet(
  world: Pick<World, "records" | "netbox" | "clock">,
  change: (fleet: FleetRecord) => FleetRecord | null,
): Promise<FleetRecord | null> {
  for (let tries = 1; ; tries++) {
    const loaded = await loadFleet(world);
    const next = change(loaded.fleet);
    if (next === null) return null;
    if (next === loaded.fleet) return next;
    try {
      await world.records.putFleet(JSON.stringify(next), loaded.resourceVersion);
      return next;
    } catch (error) {
      if (!isPortError(error, "conflict") || tries >= WRITE_TRIES) throw error;
    }
  }
}
