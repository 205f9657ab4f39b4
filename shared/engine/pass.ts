import { TOKEN_GROUP } from "../fleet/cluster.ts";
import { inventoryConflicts } from "../fleet/conflicts.ts";
import type { Device } from "../fleet/device.ts";
import { spireNodes } from "../fleet/manifests/spire-nodes.ts";
import type { Observed } from "../fleet/observed.ts";
import { overdueToken, tokenDeleted } from "../fleet/plan/csr-approval.ts";
import { planDevice } from "../fleet/plan/plan.ts";
import { type DeviceRecord, newRecord } from "../fleet/record.ts";
import { freeSlot, orphanedSlots } from "../fleet/slots.ts";
import { PortError } from "../ports/error.ts";
import { applySteps } from "./apply/index.ts";
import { settleGone } from "./gone.ts";
import {
  type Bulk,
  boundUuids,
  conflictOf,
  currentClasses,
  type LookContext,
  lookAgain,
  observeDevice,
  seen,
} from "./observe.ts";
import { loadFleet, parseRecord, updateFleet, updateRecord } from "./records.ts";
import type { World } from "./world.ts";

/** One device may take so many looks in a row before the next pass goes on with it. */
const MAX_LOOKS = 16;

export interface PassReport {
  readonly devices: number;
  readonly steps: number;
  readonly failed: number;
  /** True where another pass held the lock. */
  readonly skipped: boolean;
}

/** observe → plan → apply for one device until it rests; returns its last observation. */
async function settle(
  world: World,
  first: { observed: Observed; resourceVersion: string | null },
  context: Omit<LookContext, "fleet">,
): Promise<{ observed: Observed; steps: number; failed: boolean }> {
  let look = first;
  let steps = 0;
  for (let n = 0; n < MAX_LOOKS; n++) {
    const plan = planDevice(look.observed);
    if (plan.steps.length === 0) break;
    const failure = await applySteps(world, look.observed, look.resourceVersion, plan.steps);
    steps += plan.steps.length;
    // A conflict means somebody else wrote: read again and decide again, within the same bound.
    if (failure !== null && failure.kind !== "conflict") return { observed: look.observed, steps, failed: true };
    const next = await lookAgain(world, look.observed.device.id, context);
    if (next === null) break;
    look = next;
    if (!plan.again && failure === null) break;
  }
  return { observed: look.observed, steps, failed: false };
}

async function withDeviceLock<T>(world: World, deviceId: number, work: () => Promise<T>): Promise<T | null> {
  const owner = hex(world.entropy.bytes(16));
  if (!(await world.store.lock(`device:${deviceId}`, owner, world.settings.durations.passLockMs))) return null;
  try {
    return await work();
  } finally {
    await world.store.unlock(`device:${deviceId}`, owner).catch(() => undefined);
  }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** The pass for one device (webhook, POST /reconcile, admission): reads that device only. Null: locked or unknown. */
export async function passForDevice(
  world: World,
  deviceId: number,
  trigger: Observed["trigger"],
): Promise<{ observed: Observed; steps: number; failed: boolean } | null> {
  return withDeviceLock(world, deviceId, async () => {
    const context = {
      ...(await currentClasses(world)),
      passStartMs: world.clock.nowMs(),
      trigger,
      conflict: await conflictOf(world, deviceId),
    };
    const first = await lookAgain(world, deviceId, context);
    return first === null ? null : settle(world, first, context);
  });
}

/** A device's work under its lock; what it cannot be read for is this device's failure, and the others go on. */
async function untroubled<T>(world: World, device: Device, work: () => Promise<T>): Promise<T | null | "failed"> {
  try {
    return await withDeviceLock(world, device.id, work);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    world.event({ kind: "peer-down", device: device.name, code: error.port, text: error.message });
    return "failed";
  }
}

async function readBulk(world: World, devices: readonly Device[]): Promise<Bulk> {
  const bootPlane = await seen(world, "", () => world.bootPlane.objects());
  const nodes = await seen(world, "", () => world.cluster.nodes(devices.map((d) => d.name)));
  const csrs = nodes === null ? null : await seen(world, "", () => world.cluster.csrs());
  const others = csrs === null ? null : await seen(world, "", () => world.cluster.othersApprove(TOKEN_GROUP));
  return { bootPlane, nodes, csrs, othersApprove: others ?? false };
}

async function fullPass(world: World, keepLock: () => Promise<void>): Promise<PassReport> {
  const passStartMs = world.clock.nowMs();
  const { classes, classInputs } = await currentClasses(world);
  const devices = await seen(world, "", () => world.netbox.devices());
  if (devices === null) {
    await endTokensWithoutNetBox(world);
    throw new PortError("unavailable", "netbox", "nothing is started, granted or served until it answers");
  }
  await seen(world, "", () =>
    world.store.put("inventory", JSON.stringify(devices), world.settings.durations.inventoryCopyMs),
  );
  const stored = new Map((await world.records.all()).map((r) => [r.deviceId, r]));
  const { fleet } = await loadFleet(world);
  const records = new Map<number, DeviceRecord>();
  for (const device of devices) {
    const found = stored.get(device.id);
    const record =
      found === undefined
        ? newRecord(device.id, device.name)
        : await seen(world, device.name, async () => parseRecord(found));
    if (record !== null) records.set(device.id, record);
  }
  const conflicts = inventoryConflicts(devices, boundUuids(devices, records));
  const bulk = await readBulk(world, devices);
  let steps = 0;
  let failed = 0;
  const after: { device: Device; record: DeviceRecord }[] = [];
  for (const device of devices) {
    await keepLock();
    const record = records.get(device.id);
    if (record === undefined) {
      failed++;
      continue;
    }
    const context = {
      classes,
      classInputs,
      passStartMs,
      trigger: "pass" as const,
      conflict: conflicts.get(device.id) ?? null,
    };
    const stale = world.clock.nowMs() - passStartMs > world.settings.durations.observedMaxAgeMs;
    const done = await untroubled(world, device, async () => {
      const first = stale
        ? await lookAgain(world, device.id, context)
        : {
            observed: await observeDevice(world, device, record, { ...context, fleet }, bulk),
            resourceVersion: stored.get(device.id)?.resourceVersion ?? null,
          };
      return first === null ? null : settle(world, first, context);
    });
    if (done === "failed") failed++;
    if (done === null || done === "failed") {
      after.push({ device, record });
      continue;
    }
    steps += done.steps;
    if (done.failed) failed++;
    after.push({ device: done.observed.device, record: done.observed.record });
  }
  await settleGone(world, new Set(devices.map((d) => d.id)), stored, bulk.bootPlane);
  await closePass(world, devices, after);
  return { devices: devices.length, steps, failed, skipped: false };
}

async function closePass(
  world: World,
  devices: readonly Device[],
  after: readonly { device: Device; record: DeviceRecord }[],
): Promise<void> {
  const ids = new Set(devices.map((d) => d.id));
  const { slotOrphanMs } = world.settings.durations;
  await updateFleet(world, (f) =>
    orphanedSlots(f, ids, world.clock.nowMs(), slotOrphanMs).reduce((fleet, id) => freeSlot(fleet, id), f),
  );
  // A device whose steps failed is listed by the record that it has; one whose record cannot be read is not listed.
  const list = spireNodes(after, world.settings, world.clock.nowMs());
  await seen(world, "", () => world.files.writeSpireNodes(`${JSON.stringify({ nodes: list }, null, 2)}\n`));
}

/** NetBox is down: nothing new happens, but a token past its minute or its expiry still goes. */
async function endTokensWithoutNetBox(world: World): Promise<void> {
  for (const stored of await world.records.all()) {
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

/** One whole pass, under its lock: what another pass is doing already is not done twice. */
export async function pass(world: World): Promise<PassReport> {
  const owner = hex(world.entropy.bytes(16));
  if (!(await world.store.lock("pass", owner, world.settings.durations.passLockMs)))
    return { devices: 0, steps: 0, failed: 0, skipped: true };
  const { passLockMs } = world.settings.durations;
  let takenAtMs = world.clock.nowMs();
  const keepLock = async () => {
    if (world.clock.nowMs() - takenAtMs < passLockMs / 4) return;
    takenAtMs = world.clock.nowMs();
    await world.store.lock("pass", owner, passLockMs).catch(() => false);
  };
  try {
    const report = await fullPass(world, keepLock);
    world.event({
      kind: "pass",
      device: "",
      code: "pass",
      text: `${report.devices} devices, ${report.steps} steps, ${report.failed} failed`,
    });
    return report;
  } finally {
    await world.store.unlock("pass", owner).catch(() => undefined);
  }
}
