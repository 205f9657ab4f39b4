import { z } from "zod";
import { type Command, JSON_OPTION, UsageError } from "./_command.ts";
import { ADMIN_OPTIONS } from "./admin.ts";
import { NO_ANSWER, REFUSED, tell } from "./answer.ts";
import { shownCondition, shownDevice } from "./shown.ts";
import { columns, plain } from "./text.ts";

const schema = z.object({
  devices: z.array(shownDevice),
  vanished: z.array(z.object({ name: z.string(), conditions: z.array(shownCondition) })),
  fleet: z.array(shownCondition.extend({ devices: z.number() })),
});

function lines({ devices, vanished, fleet }: z.output<typeof schema>): string[] {
  const worst = ([first]: readonly z.output<typeof shownCondition>[], more: number) =>
    first === undefined ? "" : `${first.type}: ${first.message}${more > 1 ? ` (and ${more - 1} more)` : ""}`;
  const rows = [...devices]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((d) => [d.name, d.status, d.doing, worst(d.conditions, d.conditions.length)].map(plain));
  const gone = vanished.map((v) => [v.name, "(not in NetBox)", "vanished", worst(v.conditions, 1)].map(plain));
  const all = [...rows, ...gone];
  return [
    ...fleet.map((c) => `${c.type}: ${c.message}${c.clears === undefined ? "" : `\n  cleared by: ${c.clears}`}`),
    ...(all.length === 0 ? ["no devices"] : columns([["DEVICE", "STATUS", "DOING", "WORST CONDITION"], ...all], "")),
  ].flatMap((text) => text.split("\n"));
}

/** The fleet at a glance. @see spec/60-operator.md */
export const devices: Command = {
  name: "devices",
  operands: "",
  summary: "list the devices, what each does, and the worst of what it waits for",
  details: [
    "Lists the devices of the fleet with their status in NetBox, what goes on with each, and its worst condition. What concerns",
    "the whole fleet comes first. Devices that vanished from NetBox are listed until they are closed.",
    "fleetctl explain DEVICE says more of one. With --json: the answer as fleetd sent it.",
  ].join("\n"),
  options: { ...ADMIN_OPTIONS, json: JSON_OPTION },
  exitCodes: { 0: "listed", [REFUSED]: "refused", [NO_ANSWER]: "no answer" },
  async run(args, io) {
    if (args.files.length > 0) throw new UsageError("no operand is taken; fleetctl explain DEVICE tells of one");
    return tell({ command: "devices", args, io }, "/devices", schema, lines);
  },
};
