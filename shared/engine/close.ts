import type { Device } from "../fleet/device.ts";
import { installedAs } from "../fleet/installed-name.ts";
import { type Member, mergeSpireNodes, spireNodes } from "../fleet/manifests/spire-nodes.ts";
import { isUnfinished } from "../fleet/record.ts";
import { freeSlot, orphanedSlots } from "../fleet/slots.ts";
import { parseRecord, updateFleet } from "./records.ts";
import { isOfShard, type Round, shardName, withWalk } from "./round.ts";
import { seen } from "./seen.ts";
import type { World } from "./world.ts";

/** What a pass leaves behind: the list that SPIRE reads, slots of devices that are no more, the walk that it was. */
export async function closePass(world: World, round: Round, after: readonly Member[]): Promise<void> {
  await seen(world, "", () => list(world, round, after));
  if (!round.whole) return;
  const { slotOrphanMs } = world.settings.durations;
  const ids = new Set([...round.devices.map((d) => d.id), ...(await atWorkUnseen(world, round))]);
  await updateFleet(world, (fleet) => {
    // One that was taken since the walk began is not of its devices: a walk may last longer than an orphan waits.
    const known = fleet.slots.filter((s) =>
      round.fleet.slots.some((r) => r.deviceId === s.deviceId && r.run === s.run),
    );
    const orphans = orphanedSlots(known, ids, world.clock.nowMs(), slotOrphanMs).filter((id) => isOfShard(world, id));
    return withWalk(
      orphans.reduce((f, id) => freeSlot(f, id), fleet),
      shardName(world),
      round,
    );
  });
}

/** Devices that the walk came without and whose records still name a run that goes on: their disks are being written to. */
async function atWorkUnseen(world: World, round: Round): Promise<readonly number[]> {
  const present = new Set(round.devices.map((d) => d.id));
  const unseen = round.fleet.slots.map((s) => s.deviceId).filter((id) => !present.has(id) && isOfShard(world, id));
  if (unseen.length === 0) return [];
  // A record that cannot be read says nothing of an end.
  const records = await Promise.all(
    (await world.records.of(unseen)).map(async (stored) => ({
      id: stored.deviceId,
      record: await seen(world, "", async () => parseRecord(stored)),
    })),
  );
  return records.filter(({ record }) => record === null || isUnfinished(record.run)).map(({ id }) => id);
}

async function list(world: World, round: Round, after: readonly Member[]): Promise<void> {
  const { clock, settings, files } = world;
  if (!round.whole && after.length === 0) return;
  const names = round.whole ? await namesOf(world, round.devices, after) : null;
  const nodes =
    names === null
      ? mergeSpireNodes(await files.readSpireNodes(), after, settings, clock.nowMs())
      : spireNodes(after, settings, clock.nowMs(), names);
  if (nodes !== null) await files.writeSpireNodes(`${JSON.stringify({ nodes }, null, 2)}\n`);
}

/** Names of all devices: a node that was renamed since its install loses its old name to a device that has it now. */
async function namesOf(world: World, devices: readonly Device[], after: readonly Member[]): Promise<readonly Device[]> {
  const isRenamed = after.some(({ device, record }) => (installedAs(record)?.name ?? device.name) !== device.name);
  return world.settings.shard === null || !isRenamed ? devices : world.netbox.devices();
}
