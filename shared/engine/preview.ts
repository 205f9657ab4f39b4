import type { Device } from "../fleet/device.ts";
import { type FleetRecord, newFleetRecord } from "../fleet/fleet-record.ts";
import { nodeName } from "../fleet/installed-name.ts";
import { planAbsences } from "../fleet/plan/absences.ts";
import { planGone } from "../fleet/plan/gone.ts";
import { type Rehearsal, rehearse } from "../fleet/plan/rehearse.ts";
import { type DeviceRecord, newRecord } from "../fleet/record.ts";
import type { Step } from "../fleet/step.ts";
import type { StoredRecord } from "../ports/records.ts";
import { readBulk } from "./bulk.ts";
import type { Bulk } from "./bulk-views.ts";
import { currentClasses, type LookContext, observeDevice } from "./observe.ts";
import { parseFleet, parseRecord, recordsOf } from "./records.ts";
import { byId } from "./round.ts";
import { seen } from "./seen.ts";
import { WholeFleet } from "./whole-fleet.ts";
import type { World } from "./world.ts";

/** What the next pass would do with one device; `device` is null where NetBox has it no more. */
export interface Preview extends Rehearsal {
  readonly device: Device | null;
  /** The record as it is. */
  readonly before: DeviceRecord;
}

/** The fleet's memory as it is, or as a first pass would begin it: nothing is written. */
async function fleetAsIs({ records, clock }: World): Promise<FleetRecord> {
  const stored = await records.fleet();
  return stored === null ? newFleetRecord(clock.nowMs()) : parseFleet(stored);
}

async function context(world: World, wholeFleet: WholeFleet): Promise<LookContext> {
  return { ...(await currentClasses(world)), trigger: "pass", wholeFleet };
}

/** The next pass for one device, with nothing done. Null where NetBox has no device of that name. @throws PortError */
export async function previewDevice(world: World, name: string): Promise<Preview | null> {
  const devices = await world.netbox.devices();
  const device = devices.find((d) => d.name === name);
  if (device === undefined) return null;
  const stored = await world.records.get(device.id);
  const record = stored === null ? newRecord(device.id, name) : parseRecord(stored);
  const { records } = world;
  const holders = [
    ...(record.uuid === null ? [] : await records.byUuid(record.uuid)),
    ...(await records.byNode(device.name)),
  ];
  const wholeFleet = new WholeFleet(world);
  wholeFleet.know(
    devices,
    await recordsOf(world, devices, byId([...holders, ...(stored === null ? [] : [stored])])),
    world.clock.nowMs(),
  );
  const observed = await observeDevice(
    world,
    device,
    record,
    await fleetAsIs(world),
    await context(world, wholeFleet),
    null,
  );
  return { device, before: record, ...rehearse(observed) };
}

/** The next complete pass with nothing done: the devices with something to do alone. @throws PortError */
export async function previewFleet(world: World): Promise<Preview[]> {
  const nowMs = world.clock.nowMs();
  const devices = await world.netbox.devices();
  const stored = byId(await world.records.all());
  const fleet = await fleetAsIs(world);
  const records = await recordsOf(world, devices, stored);
  const wholeFleet = new WholeFleet(world);
  wholeFleet.know(devices, records, nowMs);
  const looks = await context(world, wholeFleet);
  const nodeNames = devices.map((d) => nodeName(d, records.get(d.id) ?? newRecord(d.id, d.name)));
  const bulk = await readBulk(world, undefined, nodeNames);
  const found: Preview[] = [];
  for (const device of devices) {
    const before = records.get(device.id);
    if (before === undefined) continue;
    const observed = await observeDevice(world, device, before, fleet, looks, bulk);
    const rehearsal = rehearse(observed);
    if (rehearsal.steps.length > 0) found.push({ device, before, ...rehearsal });
  }
  return [...found, ...(await previewGone(world, devices, stored, fleet, bulk))];
}

async function previewGone(
  world: World,
  devices: readonly Device[],
  stored: ReadonlyMap<number, StoredRecord>,
  fleet: FleetRecord,
  bulk: Bulk,
): Promise<Preview[]> {
  const present = new Set(devices.map((d) => d.id));
  const absent: DeviceRecord[] = [];
  for (const one of stored.values()) {
    const record = present.has(one.deviceId) ? null : await seen(world, "", async () => parseRecord(one));
    if (record !== null) absent.push(record);
  }
  const nowMs = world.clock.nowMs();
  const { close } = planAbsences(absent, stored.size, nowMs, world.settings, fleet.acceptedVanished);
  return close.flatMap((before): Preview[] => {
    const objects = bulk.ofDevice(before.deviceId);
    const steps: readonly Step[] = objects === null ? [] : planGone(before, objects, nowMs, world.settings);
    const put = steps.findLast((s) => s.do === "put-record");
    const record = put?.do === "put-record" ? put.record : before;
    return steps.length === 0 ? [] : [{ device: null, before, record, steps, again: false }];
  });
}
