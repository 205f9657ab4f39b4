import type { BootPlaneObjects } from "../fleet/boot-plane.ts";
import { planAbsences, withAbsence, withVanishHeldBack } from "../fleet/plan/absences.ts";
import { isForgotten, planGone } from "../fleet/plan/gone.ts";
import type { DeviceRecord } from "../fleet/record.ts";
import type { StoredRecord } from "../ports/records.ts";
import { applyWorldStep } from "./apply/world-steps.ts";
import type { Bulk } from "./bulk-views.ts";
import { loadFleet, parseRecord, storeRecord, updateRecord } from "./records.ts";
import { seen } from "./seen.ts";
import type { World } from "./world.ts";

async function close(
  world: World,
  stored: StoredRecord,
  record: DeviceRecord,
  objects: BootPlaneObjects,
): Promise<void> {
  const steps = planGone(record, objects, world.clock.nowMs(), world.settings);
  const isOver = steps.length === 0 && isForgotten(record, world.clock.nowMs(), world.settings);
  if ((steps.length === 0 && !isOver) || (await world.netbox.device(record.deviceId)) !== null) return;
  // Another process may have seen the device since the walk read its record: that walk's absence is then none, and the next decides.
  if ((await world.records.get(record.deviceId))?.resourceVersion !== stored.resourceVersion) return;
  if (isOver) return world.records.remove(record.deviceId, stored.resourceVersion);
  world.event({ kind: "step", device: record.name, code: "gone", text: `${record.name} is gone from NetBox` });
  for (const step of steps) {
    // Only a walk looks at what NetBox has no more.
    if (step.do === "put-record") await storeRecord(world.records, step.record, stored.resourceVersion, false);
    else if (step.do !== "patch-device") await applyWorldStep(world, record.deviceId, step);
  }
}

/**
 * Devices that a complete walk of NetBox came without: noted at the first, closed at the next one where NetBox by id has
 * none either. Where many vanish within a day nothing is deleted: that is rather a filter or a role than the machines.
 */
export async function settleGone(
  world: World,
  present: ReadonlySet<number>,
  stored: ReadonlyMap<number, StoredRecord>,
  bulk: Pick<Bulk, "ofDevice">,
): Promise<void> {
  const nowMs = world.clock.nowMs();
  const absent = new Map<DeviceRecord, StoredRecord>();
  for (const one of stored.values()) {
    if (present.has(one.deviceId)) continue;
    const record = await seen(world, "", async () => parseRecord(one));
    if (record !== null) absent.set(record, one);
  }
  if (absent.size === 0) return;
  const { fleet } = await loadFleet(world);
  const plan = planAbsences([...absent.keys()], stored.size, nowMs, world.settings, fleet.acceptedVanished);
  for (const { deviceId: id, name } of plan.note)
    await seen(world, name, () => updateRecord(world, { id, name }, (r) => withAbsence(r, nowMs)));
  for (const { deviceId: id, name } of plan.holdBack)
    await seen(world, name, () => updateRecord(world, { id, name }, (r) => withVanishHeldBack(r, nowMs)));
  for (const record of plan.close) {
    const one = absent.get(record);
    const objects = bulk.ofDevice(record.deviceId);
    if (one === undefined || objects === null) continue;
    await seen(world, record.name, () => close(world, one, record, objects));
  }
}
