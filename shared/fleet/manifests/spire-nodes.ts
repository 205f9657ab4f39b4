import { z } from "zod";
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

export interface Member {
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

type ListSettings = Pick<FleetSettings, "trustDomain" | "durations">;

/** The device's entry by the name that its certificates say, or null where it is not to be listed. */
function nodeOf(member: Member, settings: ListSettings, nowMs: number): SpireNode | null {
  const { device, record } = member;
  const installed = installedAs(record);
  if (installed === null || !isInstalledSerial(device, installed)) return null;
  if (!isProven(member, settings.durations.attestMaxAgeMs, nowMs)) return null;
  const { name } = installed;
  const spiffe_id = `spiffe://${settings.trustDomain}/node/${name}`;
  return { name, spiffe_id, serial: device.serial, ldevid_subject: record.identity?.subject ?? "" };
}

const byName = (a: SpireNode, b: SpireNode) => (a.name < b.name ? -1 : 1);

/**
 * spire-nodes.json: every active device that fleetd installed, whose verdict is pass and not too old, by the name that
 * its certificates say: a new one counts from the next provision, and no two devices have one SPIFFE id.
 * @param named the devices whose names are taken
 * @see spec/30-reconcile.md "SPIRE and quarantine"; spec/35-lifecycle-table.md row 40
 */
export function spireNodes(
  fleet: readonly Member[],
  settings: ListSettings,
  nowMs: number,
  named: readonly Device[] = fleet.map(({ device }) => device),
): SpireNode[] {
  const names = new Set(named.flatMap((device) => (device.status === "offline" ? [] : [device.name])));
  return fleet
    .flatMap((member): SpireNode[] => {
      const node = nodeOf(member, settings, nowMs);
      return node === null || (node.name !== member.device.name && names.has(node.name)) ? [] : [node];
    })
    .sort(byName);
}

const listSchema = z.object({
  nodes: z.array(z.object({ name: z.string(), spiffe_id: z.string(), serial: z.string(), ldevid_subject: z.string() })),
});

/** The nodes of a list as it was written; null where it is none. */
export function readSpireNodes(text: string | null): SpireNode[] | null {
  try {
    return listSchema.parse(JSON.parse(text ?? "")).nodes;
  } catch {
    return null;
  }
}

/**
 * The list with what some devices' records say now: the others stay. A device that was renamed since its install stays
 * where it is listed and is not added, since only a look at the whole fleet tells whether its name is another's by now.
 * Null: the list cannot be read.
 */
export function mergeSpireNodes(
  text: string | null,
  looked: readonly Member[],
  settings: ListSettings,
  nowMs: number,
): SpireNode[] | null {
  const old = readSpireNodes(text);
  if (old === null) return null;
  const nodes = new Map(old.map((node) => [node.spiffe_id, node]));
  for (const member of looked) {
    const { device, record } = member;
    const isNamed = ({ name }: SpireNode) => name === device.name || name === installedAs(record)?.name;
    // By its serial or its name alone, one that an owner gave another's by mistake would take that other's entry away.
    const isOwn = (node: SpireNode) =>
      (isInstalledSerial(device, node) && isNamed(node)) ||
      (record.identity !== null && node.ldevid_subject === record.identity.subject);
    const listed = [...nodes.values()].filter(isOwn);
    for (const node of listed) nodes.delete(node.spiffe_id);
    const now = nodeOf(member, settings, nowMs);
    if (now === null) continue;
    if (now.name === device.name || listed.some((node) => node.spiffe_id === now.spiffe_id))
      nodes.set(now.spiffe_id, now);
  }
  return [...nodes.values()].sort(byName);
}
