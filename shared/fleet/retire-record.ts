import { z } from "zod";

const ms = z.number().int().nonnegative();

/** A retirement's steps and clocks (spec/35, "Retirement"). */
export const retireSchema = z.strictObject({
  request: z.strictObject({ id: z.string(), atMs: ms }),
  failures: z.number().int().nonnegative(),
  nextTryAtMs: ms.nullable(),
  erasedAtMs: ms.nullable(),
  /** Off Jobs made so far; the last one's name. The count is written before the Job is made: names are never reused. */
  offJobs: z.number().int().nonnegative(),
  offJob: z.string().nullable(),
  /** Off Jobs that failed in a row: the back-off goes by them. */
  offFailures: z.number().int().nonnegative().default(0),
  /** The last one is done; what its run came to is read once more before it counts as stopped. */
  offDone: z.boolean().default(false),
  offWaitSinceMs: ms.nullable(),
  offNextTryAtMs: ms.nullable(),
  offAtMs: ms.nullable(),
  /** The Machine was seen off after `offAtMs`; an "on" before that is only old (powerState carries no time). */
  offSeen: z.boolean(),
  drainSinceMs: ms.nullable(),
  drainRounds: z.number().int().nonnegative(),
  blocked: z.array(z.string()),
  clusterCleanAtMs: ms.nullable(),
  offlineAtMs: ms.nullable(),
});
export type RetireRecord = z.output<typeof retireSchema>;

/** A retirement that begins with the owner's request. */
export function newRetire(request: RetireRecord["request"]): RetireRecord {
  return {
    request: { id: request.id, atMs: request.atMs },
    failures: 0,
    nextTryAtMs: null,
    erasedAtMs: null,
    offJobs: 0,
    offJob: null,
    offFailures: 0,
    offDone: false,
    offWaitSinceMs: null,
    offNextTryAtMs: null,
    offAtMs: null,
    offSeen: false,
    drainSinceMs: null,
    drainRounds: 0,
    blocked: [],
    clusterCleanAtMs: null,
    offlineAtMs: null,
  };
}
