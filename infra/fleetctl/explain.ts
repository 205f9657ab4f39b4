import { z } from "zod";
import { type Command, JSON_OPTION, UsageError } from "./_command.ts";
import { ADMIN_OPTIONS, adminClient } from "./admin.ts";
import { type Asked, ask, NO_ANSWER, REFUSED } from "./answer.ts";
import { conditionLines, type ShownPlan, shownDevice, shownPlan, shownVanished, stepLines } from "./shown.ts";
import { plain } from "./text.ts";

const timeline = z.array(z.object({ at: z.string(), level: z.string(), text: z.string() }));
const schema = z.union([shownDevice.extend({ timeline }), shownVanished.extend({ timeline })]);
type Explained = z.output<typeof schema>;

function headLines(device: Explained): string[] {
  if (device.status === null) return [`${device.name}: not in NetBox, missing since ${device.since ?? "now"}`];
  const { name, status, doing, serial, class: cls, request, run, verdict, accepted } = device;
  return [
    `${name}: ${status}, ${doing}`,
    `  serial ${serial}, class ${cls ?? "none"}${request === null ? "" : `, asked for ${request}`}`,
    ...(run === null ? [] : [`  last run ${run.name}: ${run.kind}, ${run.result ?? run.phase}, begun ${run.started}`]),
    ...(verdict === null ? [] : [`  last verdict ${verdict.result}, ${verdict.at}`]),
    ...(accepted === null ? [] : [`  ${accepted.kind} was accepted by ${accepted.by}, ${accepted.at}`]),
  ];
}

function nextLines(plan: Asked<ShownPlan> | null, waits: boolean): string[] {
  if (plan === null) return ["  At the next complete walk of NetBox: what the conditions above say."];
  if (!plan.ok) return [`  cannot be told now: ${plan.why}`];
  if (plan.value.steps.length > 0) return stepLines(plan.value);
  return [waits ? "  Nothing, until something of this changes." : "  Nothing: the device is where it should be."];
}

function lines(device: Explained, plan: Asked<ShownPlan> | null): string[] {
  const waits = device.conditions.length > 0;
  return [
    ...headLines(device),
    "",
    waits ? "What it waits for, the worst first:" : "It waits for nothing.",
    ...device.conditions.flatMap(conditionLines),
    "",
    "What fleetd does next:",
    ...nextLines(plan, waits),
    "",
    "What happened:",
    // The journal's text is Markdown; a terminal shows none.
    ...device.timeline.map((l) => `  ${l.at}  ${l.level.padEnd(7)}  ${l.text.replace(/\\([\\`*[\]<>|~_])/g, "$1")}`),
    ...(device.timeline.length === 0 ? ["  nothing yet"] : []),
  ];
}

/** One device: what it waits for, who must act, and what fleetd will do. @see spec/60-operator.md */
export const explain: Command = {
  name: "explain",
  operands: "DEVICE",
  summary: "say what a device waits for, who must act, and what comes next",
  details: [
    "Tells of one device: what goes on, each condition with what it means, who must act, what clears it and since when; what the",
    "next pass would do; and what happened. The conditions are listed in infra/docs/conditions.md.",
    "With --json: {device, plan} as fleetd sent them; plan is null where it cannot be told.",
  ].join("\n"),
  options: { ...ADMIN_OPTIONS, json: JSON_OPTION },
  exitCodes: { 0: "told", [REFUSED]: "refused, or no such device", [NO_ANSWER]: "no answer" },
  async run(args, io) {
    const [name, ...more] = args.files;
    if (name === undefined || more.length > 0) throw new UsageError("one device");
    const client = adminClient(args, io);
    const device = await ask(client, `/devices/${encodeURIComponent(name)}`, schema);
    if (!device.ok) {
      io.err(`fleetctl explain: ${plain(device.why)}`);
      return device.exitCode;
    }
    // A walk decides of what NetBox has no more, and not a look at that device.
    const isGone = device.value.status === null;
    const plan = isGone ? null : await ask(client, `/plan/${encodeURIComponent(name)}`, shownPlan);
    if (args.flag("json")) io.out(JSON.stringify({ device: device.body, plan: plan?.ok === true ? plan.body : null }));
    else for (const line of lines(device.value, plan)) io.out(plain(line));
    return 0;
  },
};
