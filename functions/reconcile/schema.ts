import { z } from "zod";

/** No body, or no device: a pass over the fleet. */
export const reconcileRequest = z.strictObject({ device: z.string().optional() });

/** `skipped`: another pass was at it. */
export const reconcileResponse = z.object({
  devices: z.int(),
  steps: z.int(),
  failed: z.int(),
  skipped: z.boolean(),
});
