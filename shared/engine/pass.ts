import type { Device } from "../fleet/device.ts";
import { nodeName } from "../fleet/installed-name.ts";
import type { Member } from "../fleet/manifests/spire-nodes.ts";
import type { Observed } from "../fleet/observed.ts";
import { overdueToken, tokenDeleted } from "../fleet/plan/csr-approval.ts";
import { asPresent } from "../fleet/plan/gone.ts";
import { planDevice } from "../fleet/plan/plan.ts";
import { type DeviceRecord, newRecord } from "../fleet/record.ts";
import { isPortError, PortError } from "../ports/error.ts";
import type { StoredRecord } from "../ports/records.ts";
import { readBulk } from "./bulk.ts";
import { closePass } from "./close.ts";
import { settleGone } from "./gone.ts";
import { currentClasses, type Look, type LookContext, lookAgain, observeDevice } from "./observe.ts";
import { parseRecord, recordsOf, updateRecord } from "./records.ts";
import { MANY_DEVICES, type Round, readRound, shardName } from "./round.ts";
import { seen } from "./seen.ts";
import { type KeepLock, rest, type Settled, settle, withDeviceLock, withLock } from "./settle.ts";
import { WholeFleet } from "./whole-fleet.ts";
import type { World } from "./world.ts";

export interface PassReport {
  /** How many were looked at. */
  readonly devices: number;
  readonly steps: number;
  readonly failed: number;
  /** True where another pass held the lock. */
  readonly skipped: boolean;
}

/** The pass for one device (webhook, POST /reconcile, admission): reads that device only. Null: unknown. */
export async function passForDevice(
  world: World,
  deviceId: number,
  trigger: Observed["trigger"],
): Promise<Settled | "locked" | null> {
  const done = await withDeviceLock(world, { id: deviceId }, async (keepLock) => {
    const context = {
      ...(await currentClasses(world)),
      trigger,
      wholeFleet: new WholeFleet(world),
    };
    const first = await lookAgain(world, deviceId, context);
    return { settled: first === null ? null : await settle(world, first, context, keepLock) };
  });
  return done === null ? "locked" : done.settled;
}

/** Looks at a device, and acts under its lock where there is something to do. Null: locked, or gone meanwhile. */
async function tend(
  world: World,
  device: Device,
  look: () => Promise<Look | null>,
  context: LookContext,
): Promise<Settled | null> {
  const first = await look();
  if (first === null) return null;
  if (planDevice(first.observed).steps.length === 0) {
    await rest(world, first);
    return { observed: first.observed, steps: 0, failed: false };
  }
  return withDeviceLock(world, device, (keepLock) => settle(world, first, context, keepLock));
}

/** One device of a pass; what it cannot be read for is this device's failure, and the others go on. */
async function untroubled(
  world: World,
  device: Device,
  work: () => Promise<Settled | null>,
): Promise<Settled | null | "failed"> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    world.event({ kind: "peer-down", device: device.name, code: error.port, text: error.message });
    return "failed";
  }
}

/** What failed is seen again by the next pass: its record says so, even where nothing else in it does. */
async function seeAgain(world: World, device: Device): Promise<void> {
  await seen(world, device.name, () => updateRecord(world, device, (record) => ({ ...record })));
}

/** The walk's list had the device, though nobody could look at it: two walks without it do not follow each other. */
async function listedAgain(world: World, device: Device): Promise<void> {
  await seen(world, device.name, () =>
    updateRecord(world, device, (record) =>
      record.absentSinceMs === null ? null : { ...record, ...asPresent(record) },
    ),
  );
}

async function tendAll(
  world: World,
  round: Round,
  records: ReadonlyMap<number, DeviceRecord>,
  context: LookContext,
  keepLock: KeepLock,
): Promise<PassReport & { readonly after: readonly Member[] }> {
  const ids = round.whole || round.devices.length > MANY_DEVICES ? undefined : round.devices.map((d) => d.id);
  const nodeNames = round.devices.map((d) => nodeName(d, records.get(d.id) ?? newRecord(d.id, d.name)));
  const bulk = await readBulk(world, ids, nodeNames);
  const after: Member[] = [];
  let steps = 0;
  let failed = 0;
  for (const device of round.devices) {
    await keepLock();
    const record = records.get(device.id);
    if (record === undefined) {
      failed++;
      continue;
    }
    const stored = round.stored.get(device.id);
    const isStale = world.clock.nowMs() - round.startMs > world.settings.durations.observedMaxAgeMs;
    const look = async (): Promise<Look | null> =>
      isStale
        ? lookAgain(world, device.id, context)
        : {
            observed: await observeDevice(world, device, record, round.fleet, context, bulk),
            resourceVersion: stored?.resourceVersion ?? null,
            open: stored?.open ?? false,
            node: stored?.node ?? null,
          };
    const done = await untroubled(world, device, () => tend(world, device, look, context));
    if (done === "failed" || done?.failed === true) {
      failed++;
      await seeAgain(world, device);
    }
    if (done === null && record.absentSinceMs !== null) await listedAgain(world, device);
    if (done === null || done === "failed") {
      after.push({ device, record });
      continue;
    }
    steps += done.steps;
    after.push({ device: done.observed.device, record: done.observed.record });
  }
  if (round.whole) await settleGone(world, new Set(round.devices.map((d) => d.id)), round.stored, bulk);
  return { devices: round.devices.length, steps, failed, skipped: false, after };
}

async function onePass(world: World, keepLock: KeepLock): Promise<PassReport> {
  const policy = await currentClasses(world);
  let round: Round;
  try {
    round = await readRound(world);
  } catch (error) {
    if (isPortError(error) && error.port === "netbox") await endTokensUnseen(world, await world.records.open());
    throw error;
  }
  // A device that NetBox has no more is gone only after a second walk: its token's minute does not wait for that.
  const present = new Set(round.devices.map((device) => device.id));
  await endTokensUnseen(
    world,
    [...round.stored.values()].filter((one) => !present.has(one.deviceId)),
  );
  const records = await recordsOf(world, round.devices, round.stored);
  const wholeFleet = new WholeFleet(world);
  if (round.whole && world.settings.shard === null) wholeFleet.know(round.devices, records, round.startMs);
  const context = { ...policy, trigger: "pass" as const, wholeFleet };
  const { after, ...report } = await tendAll(world, round, records, context, keepLock);
  await closePass(world, round, after);
  return report;
}

/** NetBox does not say how the devices are: nothing new happens, but a token past its minute or its expiry still goes. */
async function endTokensUnseen(world: World, unseen: readonly StoredRecord[]): Promise<void> {
  for (const stored of unseen) {
    const record = await seen(world, "", async () => parseRecord(stored));
    const id =
      record === null ? null : overdueToken(record, world.clock.nowMs(), world.settings.durations.tokenAfterApprovalMs);
    if (record === null || id === null) continue;
    await seen(world, record.name, async () => {
      await world.cluster.deleteToken(id);
      await updateRecord(world, { id: record.deviceId, name: record.name }, tokenDeleted(id, world.clock.nowMs()));
    });
  }
}

/** One pass of the shard, under its lock: what another pass is doing already is not done twice. */
export async function pass(world: World): Promise<PassReport> {
  const shard = shardName(world);
  const report = await withLock(world, shard === "" ? "pass" : `pass:${shard}`, (keepLock) => onePass(world, keepLock));
  if (report === null) return { devices: 0, steps: 0, failed: 0, skipped: true };
  const { devices, steps, failed } = report;
  world.event({ kind: "pass", device: "", code: "pass", text: `${devices} devices, ${steps} steps, ${failed} failed` });
  return report;
}
