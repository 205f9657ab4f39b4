import { z } from "zod";

const ms = z.number().int().nonnegative();
const slotSchema = z.strictObject({ deviceId: z.number().int().positive(), run: z.string(), sinceMs: ms });

/** An administrator's word for what many devices did at once: for those, up to then, and no other. */
const acceptedSchema = z.strictObject({ atMs: ms, by: z.string(), devices: z.array(z.number().int().positive()) });
export type AcceptedMass = z.output<typeof acceptedSchema>;

/** The fleet's memory (ConfigMap fleetd-fleet): when it began, the disk-run slots, failures counted over a day. */
export const fleetRecordSchema = z.strictObject({
  version: z.literal(1),
  epochMs: ms,
  slots: z.array(slotSchema),
  failed: z.array(z.strictObject({ deviceId: z.number().int().positive(), atMs: ms })),
  acceptedFailures: acceptedSchema.nullable().default(null),
  acceptedVanished: acceptedSchema.nullable().default(null),
  /** Last complete walk of NetBox by each shard ("" where there is one): its start, the newest row, devices seen. */
  walks: z
    .record(
      z.string(),
      z.strictObject({ startMs: ms, newest: z.string().nullable(), devices: z.number().int().nonnegative() }),
    )
    .default({}),
});
export type FleetRecord = z.output<typeof fleetRecordSchema>;

export function newFleetRecord(nowMs: number): FleetRecord {
  return {
    version: 1,
    epochMs: nowMs,
    slots: [],
    failed: [],
    acceptedFailures: null,
    acceptedVanished: null,
    walks: {},
  };
}
