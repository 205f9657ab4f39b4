import { z } from "zod";

const ms = z.number().int().nonnegative();

/** provision, attest, wipe by desired_action; install: planned set by an owner; retire: decommissioning set by an owner. */
export const REQUEST_KINDS = ["provision", "attest", "wipe", "install", "retire"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** An administrator's word for one held request of a device, and nothing later (spec/30, "Requests"). */
export const acceptedRequestSchema = z.strictObject({
  kind: z.enum(REQUEST_KINDS),
  /** The change-log entry's; where there is none to be read, made when it was accepted. */
  request: z.strictObject({ id: z.string(), atMs: ms }),
  /** Where there is no entry, the row's `last_updated` that was accepted; null where the entry says what was. */
  row: z.string().nullable(),
  /** A plan saw that very row: what fleetd writes to it since does not undo the word. */
  takenUp: z.boolean(),
  by: z.string(),
  atMs: ms,
});
export type AcceptedRequest = z.output<typeof acceptedRequestSchema>;
