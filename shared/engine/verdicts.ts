import type { Device } from "../fleet/device.ts";
import type { FleetRecord } from "../fleet/fleet-record.ts";
import { countFailure, isMassFailure } from "../fleet/plan/quarantine.ts";
import type { DeviceRecord, VerdictRecord } from "../fleet/record.ts";
import { loadFleet, updateFleet, updateRecord } from "./records.ts";
import type { World } from "./world.ts";

/** How many devices the last whole walks saw; records are counted where there was none yet. */
async function fleetSize({ records }: Pick<World, "records">, { walks }: FleetRecord): Promise<number> {
  const seen = Object.values(walks);
  return seen.length === 0 ? (await records.all()).length : seen.reduce((sum, walk) => sum + walk.devices, 0);
}

/**
 * Writes a verdict to the device's record (null: not to this one); a failing one is counted in the fleet's memory first, which says whether so
 * many failed at once that it quarantines nobody.
 * @throws PortError: without a record there is no certificate
 * @see spec/30-reconcile.md "SPIRE and quarantine"
 */
export async function rememberVerdict(
  world: Pick<World, "records" | "netbox" | "clock" | "settings">,
  device: Device,
  verdict: VerdictRecord,
  after: (record: DeviceRecord, massFailure: boolean) => DeviceRecord | null,
): Promise<DeviceRecord> {
  const { massWindowMs } = world.settings.durations;
  const nowMs = verdict.atMs;
  let massFailure = false;
  if (verdict.result === "fail") {
    const { fleet } = await loadFleet(world);
    massFailure = isMassFailure(fleet, device.id, await fleetSize(world, fleet), nowMs, massWindowMs);
    await updateFleet(world, (f) => countFailure(f, device.id, nowMs, massWindowMs));
  }
  return updateRecord(world, device, (record) => after(record, massFailure));
}
