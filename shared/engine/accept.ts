import type { AcceptedRequest, RequestKind } from "../fleet/accepted-request.ts";
import type { Device } from "../fleet/device.ts";
import type { AcceptedMass, FleetRecord } from "../fleet/fleet-record.ts";
import { type Acceptance, acceptRequest } from "../fleet/held.ts";
import { isVanishAccepted, isVanishHeldBack } from "../fleet/plan/absences.ts";
import { heldBackFailure, isFailureAccepted } from "../fleet/plan/mass-failure.ts";
import type { DeviceRecord } from "../fleet/record.ts";
import { loadFleet, parseRecord, updateFleet, updateRecord } from "./records.ts";
import { seen } from "./seen.ts";
import type { World } from "./world.ts";

export type Accepted<T> =
  | { readonly ok: true; readonly accepted: T; readonly isNew: boolean }
  | { readonly ok: false; readonly detail: string };

/** A name in the shape of a request's id, for a request that has no change-log entry. */
function madeId({ entropy }: Pick<World, "entropy">): string {
  const hex = Array.from(entropy.bytes(16), (b) => b.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * An administrator's word for the one request of a device that is held: written to its record with its journal line.
 * @throws PortError
 * @see spec/30-reconcile.md "Requests"
 */
export async function acceptHeldRequest(
  world: World,
  device: Device,
  kind: RequestKind | null,
  by: string,
): Promise<Accepted<AcceptedRequest>> {
  const changes = await seen(world, device.name, () => world.netbox.changes(device.id));
  const { fleet } = await loadFleet(world);
  const context = { changes, netboxUser: world.settings.netboxUser, epochMs: fleet.epochMs };
  const word = { kind, by, atMs: world.clock.nowMs(), madeId: madeId(world) };
  let answer: Acceptance = { ok: false, detail: "" };
  await updateRecord(world, device, (record) => {
    answer = acceptRequest(device, record, context, word);
    return answer.ok && answer.isNew ? answer.record : null;
  });
  // TypeScript does not see that the closure has set it.
  return answer as Acceptance;
}

async function readable(world: World): Promise<DeviceRecord[]> {
  const records: DeviceRecord[] = [];
  for (const stored of await world.records.all()) {
    const record = await seen(world, "", async () => parseRecord(stored));
    if (record !== null) records.push(record);
  }
  return records;
}

/** The next pass of each shard is a complete one: what was accepted is done then, not minutes later. */
function withWalksDue(fleet: FleetRecord): FleetRecord {
  const walks = Object.entries(fleet.walks).map(([shard, walk]) => [shard, { ...walk, startMs: 0 }] as const);
  return { ...fleet, walks: Object.fromEntries(walks) };
}

/** An administrator's word that the devices which vanished at once are really gone: those that are held back now. */
export async function acceptVanished(world: World, by: string): Promise<Accepted<AcceptedMass>> {
  const records = await readable(world);
  const held = records.filter((r) => r.absentSinceMs !== null && isVanishHeldBack(r));
  if (held.length === 0) return { ok: false, detail: "no device is held back for having vanished" };
  const { fleet } = await loadFleet(world);
  const standing = fleet.acceptedVanished;
  if (standing !== null && held.every((r) => isVanishAccepted(r, standing)))
    return { ok: true, accepted: standing, isNew: false };
  // What was accepted before stays so: held back again, it would count as vanished now.
  const named = records.filter((r) => held.includes(r) || isVanishAccepted(r, standing));
  const accepted = { atMs: world.clock.nowMs(), by, devices: named.map((r) => r.deviceId) };
  await updateFleet(world, (f) => ({ ...withWalksDue(f), acceptedVanished: accepted }));
  return { ok: true, accepted, isNew: true };
}

/** An administrator's word that the failures until now are real: they hold no quarantine back any more. */
export async function acceptFailures(world: World, by: string): Promise<Accepted<AcceptedMass>> {
  const held = (await readable(world)).flatMap((r) => {
    const verdict = heldBackFailure(r);
    return verdict === null ? [] : [{ deviceId: r.deviceId, verdict }];
  });
  if (held.length === 0) return { ok: false, detail: "no device's failure is held back" };
  const { fleet } = await loadFleet(world);
  const standing = fleet.acceptedFailures;
  if (standing !== null && held.every(({ verdict }) => isFailureAccepted(verdict, standing)))
    return { ok: true, accepted: standing, isNew: false };
  const atMs = world.clock.nowMs();
  let accepted: AcceptedMass = { atMs, by, devices: [] };
  await updateFleet(world, (f) => {
    const counted = [...held.map((h) => h.deviceId), ...f.failed.map((one) => one.deviceId)];
    accepted = { atMs, by, devices: [...new Set(counted)].sort((a, b) => a - b) };
    return { ...withWalksDue(f), failed: [], acceptedFailures: accepted };
  });
  return { ok: true, accepted, isNew: true };
}
