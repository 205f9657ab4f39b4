import { type Arguments, type Command, type Io, JSON_OPTION, UsageError } from "./_command.ts";
import { NO_ANSWER, REFUSED } from "./answer.ts";
import { applySetup, type PlannedSetup, planSetup, type SetupOptions, secretPaths } from "./netbox/setup.ts";
import type { SetupStep } from "./netbox/setup-step.ts";
import { netboxFault, OWNER_NETBOX_HELP, ownerNetBox, PLANNED } from "./owner-netbox.ts";
import { plain } from "./text.ts";

/** What fleetd needs of NetBox. @see spec/00-overview.md "NetBox", infra/docs/set-up.md */
export const netboxSetup: Command = {
  name: "netbox setup",
  operands: "",
  summary: "make in NetBox what fleetd needs: fields, account with least rights, token, webhook",
  details: [
    "Compares NetBox with what fleetd needs and shows the plan: the device role, custom fields and their choices, fleetd's account",
    "with the permissions that it needs and no more, its token, the webhook and the rule that sends it for devices of that role.",
    "Nothing is done without --apply. Nothing is ever deleted. A second run plans nothing. What an owner must decide (a field of",
    "that name and another type) is refused, and then nothing at all is done.",
    "",
    `${OWNER_NETBOX_HELP} It must be allowed to make all of this: an administrator's.`,
    "",
    "The token and the webhook's secret are written to --secrets, netbox-token and webhook-secret, mode 0600, and never printed:",
    "FLEET_NETBOX_TOKEN_FILE and FLEET_WEBHOOK_SECRET_FILE name these files. A file that is there is kept; without it a new",
    "token or secret is made.",
    "With --json: {version, steps: [{do, what, name, details}], refused, notes, applied}.",
  ].join("\n"),
  options: {
    "webhook-url": {
      type: "string",
      placeholder: "URL",
      help: "fleetd's admin listener as NetBox reaches it, with /webhooks/netbox",
    },
    "webhook-ca": {
      type: "string",
      placeholder: "FILE",
      help: "on NetBox's host, PEM of what issued that listener's certificate, where that is no public CA",
    },
    secrets: {
      type: "string",
      placeholder: "FOLDER",
      help: "for the two files with secrets; made where it is missing",
    },
    role: { type: "string", placeholder: "SLUG", help: "FLEET_NETBOX_ROLE; default fleet-node" },
    user: { type: "string", placeholder: "NAME", help: "FLEET_NETBOX_USER; default fleetd" },
    apply: { type: "boolean", help: "carry the plan out" },
    json: JSON_OPTION,
  },
  exitCodes: {
    0: "nothing to do, or all was done",
    [REFUSED]: "refused: an owner must decide, or NetBox refused",
    [NO_ANSWER]: "no answer; what was told as done is done, and another run does the rest",
    [PLANNED]: "there is something to do, and nothing was done: --apply was not given",
  },
  async run(args, io) {
    const options = optionsOf(args, io);
    const netbox = ownerNetBox(io);
    const json = args.flag("json");
    const apply = args.flag("apply");
    const say = (line: string) => (json ? undefined : io.out(plain(line)));
    try {
      const plan = await planSetup(netbox, options);
      const { steps, refused } = plan;
      const act = apply && refused.length === 0;
      if (!json) tellPlan(plan, options, say);
      if (act) {
        await applySetup(netbox, plan, options, (step) => say(`done: ${titleOf(step)}`));
        const left = steps.length === 0 ? plan : await planSetup(netbox, options);
        for (const step of left.steps) io.err(plain(`fleetctl netbox setup: did not hold: ${titleOf(step)}`));
        if (left.steps.length > 0) return REFUSED;
      }
      if (json) {
        const shown = steps.map(({ do: verb, what, name, details }) => ({ do: verb, what, name, details }));
        io.out(JSON.stringify({ version: plan.version, steps: shown, refused, notes: plan.notes, applied: act }));
      }
      if (refused.length > 0) return REFUSED;
      if (steps.length === 0 && !json) io.out("Nothing to do.");
      if (steps.length === 0 || act) return 0;
      say("Nothing was done: --apply does it.");
      return PLANNED;
    } catch (error) {
      const { words, exitCode } = netboxFault(error);
      io.err(plain(`fleetctl netbox setup: ${words}`));
      return exitCode;
    }
  },
};

function optionsOf(args: Arguments, io: Io): SetupOptions {
  if (args.files.length > 0) throw new UsageError("no operand is taken");
  const webhookUrl = args.value("webhook-url");
  if (webhookUrl === undefined || !URL.canParse(webhookUrl) || !/^https?:/.test(webhookUrl))
    throw new UsageError(
      "--webhook-url must be a URL: fleetd's admin listener as NetBox reaches it, with /webhooks/netbox",
    );
  const secrets = args.value("secrets");
  if (secrets === undefined) throw new UsageError("--secrets FOLDER is needed");
  return {
    webhookUrl,
    secrets,
    webhookCaFile: args.value("webhook-ca") ?? null,
    role: args.value("role") ?? io.env.FLEET_NETBOX_ROLE ?? "fleet-node",
    user: args.value("user") ?? io.env.FLEET_NETBOX_USER ?? "fleetd",
  };
}

function titleOf({ do: verb, what, name }: SetupStep): string {
  return `${verb} ${what} ${name}`;
}

function tellPlan(
  { version, steps, refused, notes }: PlannedSetup,
  { role, user, secrets }: SetupOptions,
  say: (line: string) => void,
): void {
  say(
    `NetBox ${version}, for devices of role ${role}, fleetd's account ${user}, secrets in ${secretPaths(secrets).token} and beside it`,
  );
  for (const step of steps) {
    say(`  ${step.do === "create" ? "+" : "~"} ${step.what} ${step.name}`);
    for (const detail of step.details) say(`      ${detail}`);
  }
  for (const one of notes) say(`  note: ${one}`);
  for (const one of refused) say(`  refused: ${one}`);
  if (refused.length > 0) say("Nothing was done.");
}
