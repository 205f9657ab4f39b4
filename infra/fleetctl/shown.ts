import { z } from "zod";

/** What the admin listener says, as far as fleetctl reads it; more may come. */
export const shownCondition = z.object({
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  since: z.string(),
  run: z.string(),
  means: z.string().optional(),
  who: z.string().optional(),
  clears: z.string().optional(),
});
export type ShownCondition = z.output<typeof shownCondition>;

export const shownDevice = z.object({
  name: z.string(),
  serial: z.string(),
  status: z.string(),
  class: z.string().nullable(),
  request: z.string().nullable(),
  doing: z.string(),
  run: z
    .object({
      name: z.string(),
      kind: z.string(),
      phase: z.string(),
      result: z.string().nullable(),
      started: z.string(),
    })
    .nullable(),
  accepted: z.object({ kind: z.string(), by: z.string(), at: z.string() }).nullable(),
  verdict: z.object({ result: z.string(), at: z.string() }).nullable(),
  conditions: z.array(shownCondition),
});

/** NetBox has it no more. */
export const shownVanished = z.object({
  name: z.string(),
  status: z.null(),
  since: z.string().nullable(),
  conditions: z.array(shownCondition),
});

export const shownPlan = z.object({
  name: z.string(),
  status: z.string().nullable(),
  steps: z.array(z.object({ do: z.string(), text: z.string() })),
  again: z.boolean(),
  conditions: z.array(shownCondition),
});
export type ShownPlan = z.output<typeof shownPlan>;

const WHO: Readonly<Record<string, string>> = {
  owner: "the device's owner",
  operator: "who runs fleetd and its peers",
  machine: "the machine, by itself",
  fleetd: "fleetd, by itself",
};

/** A condition with all that the list says of it. */
export function conditionLines(condition: ShownCondition): string[] {
  const { type, reason, message, since, means, who, clears } = condition;
  return [
    `  ${type} (${reason}), since ${since}`,
    `    ${message}`,
    ...(means === undefined ? [] : [`    it means:    ${means}`]),
    ...(who === undefined ? [] : [`    who acts:    ${WHO[who] ?? who}`]),
    ...(clears === undefined ? [] : [`    cleared by:  ${clears}`]),
  ];
}

/** The steps of a plan, numbered, and whether more may follow. */
export function stepLines({ steps, again }: Pick<ShownPlan, "steps" | "again">): string[] {
  const width = String(steps.length).length;
  return [
    ...steps.map((step, i) => `  ${String(i + 1).padStart(width)}. ${step.text}`),
    ...(again ? ["  Then fleetd looks again: what follows depends on what came of this."] : []),
  ];
}
