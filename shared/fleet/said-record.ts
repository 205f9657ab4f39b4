import { z } from "zod";

const ms = z.number().int().nonnegative();

/** Types and reasons are the list's when written; a record of an older or newer fleetd may hold others. */
export const conditionSchema = z.strictObject({
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  sinceMs: ms,
  /** Run name or request id that it speaks of, or "". */
  about: z.string(),
});
export type ConditionRecord = z.output<typeof conditionSchema>;

export const journalSchema = z.strictObject({
  mark: z.string(),
  level: z.enum(["info", "success", "warning", "danger"]),
  code: z.string(),
  text: z.string(),
  dueAtMs: ms,
  sent: z.boolean(),
});
export type JournalRecord = z.output<typeof journalSchema>;
