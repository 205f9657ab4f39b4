import type { Device } from "../device.ts";
import type { FleetSettings } from "../limits.ts";
import type { DeviceRecord } from "../record.ts";

export interface SpireNode {
  readonly name: string;
  readonly spiffe_id: string;
  readonly serial: string;
  readonly ldevid_subject: string;
}

/**
 * spire-nodes.json: every active device that fleetd installed, whose verdict is pass and not too old.
 * @see spec/30-reconcile.md "SPIRE and quarantine"
 */
export function spireNodes(
  fleet: readonly { readonly device: Device; readonly record: DeviceRecord }[],
  settings: Pick<FleetSettings, "trustDomain" | "durations">,
  nowMs: number,
): SpireNode[] {
  return fleet
    .filter(({ device, record }) => {
      const { verdict, installed, quarantine, identity } = record;
      if (device.status !== "active" || installed === null || identity === null) return false;
      if (verdict?.result !== "pass" || quarantine !== null) return false;
      if (device.serial !== record.run?.serial && record.run !== null) return false;
      return installed.class.class.reattest !== "renew" || nowMs - verdict.atMs <= settings.durations.attestMaxAgeMs;
    })
    .map(({ device, record }) => ({
      name: device.name,
      spiffe_id: `spiffe://${settings.trustDomain}/node/${device.name}`,
      serial: device.serial,
      ldevid_subject: record.identity?.subject ?? "",
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
