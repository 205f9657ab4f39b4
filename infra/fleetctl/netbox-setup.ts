import { type Arguments, type Command, type Io, JSON_OPTION, UsageError } from "./_command.ts";
import { NO_ANSWER, REFUSED } from "./answer.ts";
import { SecretFileError } from "./netbox/secret-file.ts";
import { applySetup, type PlannedSetup, planSetup, type SetupOptions, secretPaths } from "./netbox/setup.ts";
import type { SetupStep } from "./netbox/setup-step.ts";
import { netboxFault, OWNER_NETBOX_HELP, ownerNetBox, PLANNED, roleOf } from "./owner-netbox.ts";
import { type Planned, runPlanned } from "./planned.ts";

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
    "With --json: {version, steps: [{do, what, name, details}], refused, notes, done, applied, fault}.",
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
    const look = async (): Promise<Planned> => {
      const plan = await planSetup(netbox, options);
      const { version, refused, notes } = plan;
      return {
        shown: {
          version,
          steps: plan.steps.map(({ do: verb, what, name, details }) => ({ do: verb, what, name, details })),
        },
        steps: plan.steps.map(titleOf),
        refused,
        notes,
        lines: () => linesOf(plan, options),
        apply: (done) => applySetup(netbox, plan, options, (step) => done(titleOf(step))),
      };
    };
    const unread = { version: null, steps: [] };
    const done = (title: string) => `done: ${title}`;
    return runPlanned({ name: "netbox setup", unread, done, look, faultOf }, args, io);
  },
};

function faultOf(error: unknown): { readonly words: string; readonly exitCode: number } {
  return error instanceof SecretFileError ? { words: error.message, exitCode: REFUSED } : netboxFault(error);
}

/** As NetBox takes one; the names of its permissions, which begin with it, have at most 100. */
const USER = /^[\w.@+-]{1,80}$/;

function optionsOf(args: Arguments, io: Io): SetupOptions {
  if (args.files.length > 0) throw new UsageError("no operand is taken");
  const secrets = args.value("secrets");
  const user = args.value("user") ?? io.env.FLEET_NETBOX_USER ?? "fleetd";
  if (!USER.test(user)) throw new UsageError(`--user (or FLEET_NETBOX_USER) "${user}" is no name of an account`);
  const webhookUrl = webhookUrlOf(args.value("webhook-url"));
  if (secrets === undefined || secrets === "") throw new UsageError("--secrets FOLDER is needed");
  const webhookCaFile = args.value("webhook-ca") ?? null;
  if (webhookCaFile === "") throw new UsageError("--webhook-ca FILE is empty");
  return {
    webhookUrl,
    secrets,
    webhookCaFile,
    role: roleOf(args, io),
    user,
  };
}

/** What it says wrongly is not repeated: it may hold a password. */
function webhookUrlOf(text: string | undefined): string {
  if (text === undefined || !URL.canParse(text) || !/^https?:/.test(text))
    throw new UsageError(
      "--webhook-url must be a URL: fleetd's admin listener as NetBox reaches it, with /webhooks/netbox",
    );
  const { username, password, pathname, search, hash } = new URL(text);
  if (username !== "" || password !== "")
    throw new UsageError(
      "--webhook-url holds a user or a password: NetBox signs what it sends, and fleetd asks for none",
    );
  if (!pathname.endsWith("/webhooks/netbox") || search !== "" || hash !== "")
    throw new UsageError("--webhook-url must end with /webhooks/netbox");
  return text;
}

function titleOf({ do: verb, what, name }: Pick<SetupStep, "do" | "what" | "name">): string {
  return `${verb} ${what} ${name}`;
}

function linesOf({ version, steps }: PlannedSetup, { role, user, secrets }: SetupOptions): string[] {
  return [
    `NetBox ${version}, for devices of role ${role}, fleetd's account ${user}, secrets in ${secretPaths(secrets).token} and beside it`,
    ...steps.flatMap((step) => [
      `  ${step.do === "create" ? "+" : "~"} ${step.what} ${step.name}`,
      ...step.details.map((detail) => `      ${detail}`),
    ]),
  ];
}
