import { parseEkBindings } from "../../../shared/fleet/binding.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import { type DeviceRecord, recordSchema } from "../../../shared/fleet/record.ts";
import type { SimWorkflow } from "../peers/boot-plane.ts";
import type { Sim } from "../sim.ts";
import type { Task } from "../task.ts";

const parsed = new WeakMap<object, DeviceRecord>();

/** A device's record as it lies in the cluster, or null. */
export function recordOf(sim: Sim, deviceId: number): DeviceRecord | null {
  const kept = sim.records.kept.get(deviceId);
  if (kept === undefined) return null;
  const known = parsed.get(kept);
  if (known !== undefined) return known;
  const record = recordSchema.parse(JSON.parse(kept.text));
  parsed.set(kept, record);
  return record;
}

export function touchesDisk(workflow: SimWorkflow): boolean {
  return workflow.kind !== "attest";
}

/** Whether the row was so at any step that the task may have seen. */
export function rowWas(sim: Sim, deviceId: number, by: Task | null, holds: (row: Device) => boolean): boolean {
  return sim.ledger.rowWas(deviceId, by?.seenFromStep ?? sim.step, holds);
}

/** Whether the machine has every key that the row approves, and the row approves any. */
export function provesAll(sim: Sim, machine: number, row: Device): boolean {
  const digests: readonly string[] = sim.machines[machine]?.board.digests ?? [];
  const approved = parseEkBindings(row.approvedEks);
  return approved.length > 0 && approved.every(({ digest }) => digests.includes(digest));
}
