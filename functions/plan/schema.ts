import { z } from "zod";
import { conditionShape } from "../../shared/runtime/wire-schema.ts";

export const planResponse = z.object({
  id: z.int(),
  name: z.string(),
  /** null: NetBox has the device no more. */
  status: z.string().nullable(),
  /** In their order, with every object and disk by name. */
  steps: z.array(z.object({ do: z.string(), text: z.string() })),
  /** What the steps do outside decides what comes next: that cannot be told before. */
  again: z.boolean(),
  /** As they will be. */
  conditions: z.array(conditionShape),
});

/** The devices with something to do alone. */
export const plansResponse = z.object({ devices: z.array(planResponse) });
