import { z } from "zod";
import { type Command, JSON_OPTION, UsageError } from "./_command.ts";
import { ADMIN_OPTIONS } from "./admin.ts";
import { NO_ANSWER, REFUSED, tell } from "./answer.ts";
import { type ShownPlan, shownPlan, stepLines } from "./shown.ts";

function waiting({ conditions }: ShownPlan): string[] {
  return conditions.map((c) => `  ${c.type} (${c.reason}): ${c.message}`);
}

function ofOne(plan: ShownPlan): string[] {
  const { name, status, steps, conditions } = plan;
  return [
    `${name}: ${status ?? "not in NetBox any more"}`,
    ...(steps.length === 0 ? ["  nothing to do"] : stepLines(plan)),
    ...(conditions.length === 0 ? [] : [steps.length === 0 ? "It waits for:" : "It will wait for:", ...waiting(plan)]),
  ];
}

function ofAll({ devices }: { readonly devices: readonly ShownPlan[] }): string[] {
  if (devices.length === 0) return ["nothing to do with any device"];
  return devices.flatMap((plan, i) => [
    ...(i === 0 ? [] : [""]),
    `${plan.name}: ${plan.status ?? "not in NetBox any more"}`,
    ...stepLines(plan),
  ]);
}

/** A dry run of the next pass. @see spec/60-operator.md */
export const plan: Command = {
  name: "plan",
  operands: "[DEVICE]",
  summary: "say what the next pass would do; nothing is done",
  details: [
    "Asks fleetd to look at everything now, and to say what the next pass would do: each object and each disk by name, in order.",
    "Nothing is done or written. Without DEVICE: the devices with something to do alone. Where a step decides what comes next,",
    "the plan ends there and says so: what a disk run does is in its Template, not here.",
    "With --json: the answer as fleetd sent it.",
  ].join("\n"),
  options: { ...ADMIN_OPTIONS, json: JSON_OPTION },
  exitCodes: { 0: "told, something to do or not", [REFUSED]: "refused, or no such device", [NO_ANSWER]: "no answer" },
  async run(args, io) {
    const [name, ...more] = args.files;
    if (more.length > 0) throw new UsageError("one device at most");
    const about = { command: "plan", args, io };
    return name === undefined
      ? tell(about, "/plan", z.object({ devices: z.array(shownPlan) }), ofAll)
      : tell(about, `/plan/${encodeURIComponent(name)}`, shownPlan, ofOne);
  },
};
