import { eksChanged } from "../binding.ts";
import type { Device } from "../device.ts";
import { installedAs, isInstalledSerial } from "../installed-name.ts";
import type { FleetSettings } from "../limits.ts";
import type { DeviceRecord } from "../record.ts";

export interface SpireNode {
  readonly name: string;
  readonly spiffe_id: string;
  readonly serial: string;
  readonly ldevid_subject: string;
}

interface Member {
  readonly device: Device;
  readonly record: DeviceRecord;
}

function isProven({ device, record }: Member, attestMaxAgeMs: number, nowMs: number): boolean {
  const { verdict, installed, quarantine, passedEks } = record;
  if (device.status !== "active" || installed === null) return false;
  if (verdict?.result !== "pass" || quarantine !== null) return false;
  // An identity is of the EKs that passed: another TPM's pass takes it away.
  if (passedEks === null || eksChanged(device, record)) return false;
  return installed.class.class.reattest !== "renew" || nowMs - verdict.atMs <= attestMaxAgeMs;
}

/**
 * spire-nodes.json: every active device that fleetd installed, whose verdict is pass and not too old, by the name that
 * its certificates say: a new one counts from the next provision, and no two devices have one SPIFFE id.
 * @see spec/30-reconcile.md "SPIRE and quarantine"; spec/35-lifecycle-table.md row 40
 */
export function spireNodes(
  fleet: readonly Member[],
  settings: Pick<FleetSettings, "trustDomain" | "durations">,
  nowMs: number,
): SpireNode[] {
  const names = new Set(fleet.flatMap(({ device }) => (device.status === "offline" ? [] : [device.name])));
  return fleet
    .flatMap((member): SpireNode[] => {
      const { device, record } = member;
      const installed = installedAs(record);
      if (installed === null || !isInstalledSerial(device, installed)) return [];
      if (!isProven(member, settings.durations.attestMaxAgeMs, nowMs)) return [];
      const { name } = installed;
      if (name !== device.name && names.has(name)) return [];
      const spiffe_id = `spiffe://${settings.trustDomain}/node/${name}`;
      return [{ name, spiffe_id, serial: device.serial, ldevid_subject: record.identity?.subject ?? "" }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
