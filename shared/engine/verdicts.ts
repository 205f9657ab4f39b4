import type { Device } from "../fleet/device.ts";
import { countFailure, isMassFailure } from "../fleet/plan/quarantine.ts";
import type { DeviceRecord, VerdictRecord } from "../fleet/record.ts";
import { loadFleet, updateFleet, updateRecord } from "./records.ts";
import type { World } from "./world.ts";

/**
 * Writes a verdict to the device's record (null: not to this one); a failing one is counted in the fleet's memory first, which says whether so
 * many failed at once that it quarantines nobody.
 * @throws PortError: without a record there is no certificate
 * @see spec/30-reconcile.md "SPIRE and quarantine"
 */
export async function rememberVerdict(
  world: Pick<World, "records" | "clock" | "settings">,
  device: Device,
  verdict: VerdictRecord,
  after: (record: DeviceRecord, massFailure: boolean) => DeviceRecord | null,
): Promise<DeviceRecord> {
  const { massWindowMs } = world.settings.durations;
  const nowMs = verdict.atMs;
  let massFailure = false;
  if (verdict.result === "fail") {
    const { fleet } = await loadFleet(world);
    massFailure = isMassFailure(fleet, device.id, (await world.records.all()).length, nowMs, massWindowMs);
    await updateFleet(world, (f) => countFailure(f, device.id, nowMs, massWindowMs));
  }
  return updateRecord(world, device, (record) => after(record, massFailure));
}
