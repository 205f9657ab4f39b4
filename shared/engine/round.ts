import type { Device } from "../fleet/device.ts";
import type { FleetRecord } from "../fleet/fleet-record.ts";
import { readSpireNodes } from "../fleet/manifests/spire-nodes.ts";
import { isEarlier } from "../fleet/moment.ts";
import { movedSince, newestOf, rowsSince, type Walk, walkDue, wentBack } from "../fleet/walk.ts";
import type { StoredRecord } from "../ports/records.ts";
import { loadFleet } from "./records.ts";
import type { World } from "./world.ts";

/** Above this a list of all costs fewer calls than selectors by ids. */
export const MANY_DEVICES = 1000;

/** What one pass looks at. */
export interface Round {
  /** Every device of the shard was read: only then can one be missed. */
  readonly whole: boolean;
  readonly startMs: number;
  readonly fleet: FleetRecord;
  /** The shard's last walk as it stood when this began. */
  readonly lastWalk: Walk | undefined;
  readonly devices: readonly Device[];
  /** Of each device, and in a walk of those that NetBox has no more. */
  readonly stored: Map<number, StoredRecord>;
}

/** The shard's name in locks and in the fleet's memory; "" where one pass has the whole fleet. */
export function shardName({ settings: { shard } }: Pick<World, "settings">): string {
  return shard === null ? "" : `${shard.from}-${shard.to}`;
}

export function isOfShard({ settings: { shard } }: Pick<World, "settings">, deviceId: number): boolean {
  return shard === null || (deviceId >= shard.from && deviceId <= shard.to);
}

export const byId = (records: readonly StoredRecord[]) => new Map(records.map((r) => [r.deviceId, r] as const));

/**
 * Reads all that a pass looks at: every device when a walk is due, else those of which something moved in NetBox since
 * the last one, and those whose record is open.
 * @see spec/30-reconcile.md "Observed"
 * @throws PortError
 */
export async function readRound(world: World): Promise<Round> {
  const startMs = world.clock.nowMs();
  const before = await loadFleet(world);
  const read = (await readBetween(world, before.fleet, startMs)) ?? (await readWhole(world));
  // Read after the records: with a memory from before they were lost, an old request would be fresh for a new record.
  const { fleet } = read.devices.length === 0 ? before : await loadFleet(world);
  return { ...read, startMs, fleet, lastWalk: before.fleet.walks[shardName(world)] };
}

type Read = Pick<Round, "whole" | "devices" | "stored">;

async function readWhole(world: World): Promise<Read> {
  const devices = await world.netbox.devices(world.settings.shard ?? undefined);
  const stored = (await world.records.all()).filter((r) => isOfShard(world, r.deviceId));
  return { whole: true, devices, stored: byId(stored) };
}

async function readBetween(world: World, fleet: FleetRecord, startMs: number): Promise<Read | null> {
  const walk = fleet.walks[shardName(world)];
  const { durations } = world.settings;
  if (walk === undefined || walkDue(walk, startMs, durations)) return null;
  // A list that is not there, or is none, is made anew from all of the fleet.
  if (readSpireNodes(await world.files.readSpireNodes()) === null) return null;
  const since = movedSince(walk, durations);
  const { rows, parts } = await world.netbox.changedSince({ rows: rowsSince(walk, since), parts: since });
  if (
    wentBack(
      walk,
      rows.map((row) => row.lastUpdated),
    )
  )
    return null;
  // A row newer than all that the walk saw moved after it, whatever NetBox's clock says of the moment.
  const isMoved = ({ lastUpdated }: { readonly lastUpdated: string }) =>
    !isEarlier(lastUpdated, since) || (walk.newest !== null && isEarlier(walk.newest, lastUpdated));
  const moved = [...rows.filter(isMoved).map((row) => row.id), ...parts];
  const open = (await world.records.open()).filter((r) => isOfShard(world, r.deviceId));
  const known = new Set(open.map((r) => r.deviceId));
  const others = [...new Set(moved)].filter((id) => isOfShard(world, id) && !known.has(id));
  const ids = [...known, ...others].sort((a, b) => a - b);
  if (ids.length === 0) return { whole: false, devices: [], stored: new Map() };
  const devices = await world.netbox.devices(ids);
  const rest = others.length > MANY_DEVICES ? await world.records.all() : await world.records.of(others);
  return { whole: false, devices, stored: byId([...rest, ...open]) };
}

/** The fleet's memory with this round as the shard's last whole walk, unless somebody wanted another one meanwhile. */
export function withWalk(fleet: FleetRecord, shard: string, round: Round): FleetRecord {
  const { startMs, devices, lastWalk: then } = round;
  const now = fleet.walks[shard];
  if (now !== undefined && then !== undefined && now.startMs < then.startMs) return fleet;
  const newest = newestOf(devices.map((d) => d.lastUpdated));
  return { ...fleet, walks: { ...fleet.walks, [shard]: { startMs, newest, devices: devices.length } } };
}
