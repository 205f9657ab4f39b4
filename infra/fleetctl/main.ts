#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Arguments, type Command, type Io, parseArgsOptions, USAGE_EXIT_CODE, UsageError } from "./_command.ts";
import { accept } from "./accept.ts";
import { adopt } from "./adopt.ts";
import { approve } from "./approve.ts";
import { claims } from "./claims.ts";
import { config } from "./config.ts";
import { devices } from "./devices.ts";
import { diff } from "./diff.ts";
import { doctor } from "./doctor.ts";
import { eventlog } from "./eventlog.ts";
import { explain } from "./explain.ts";
import { commandHelp, overview } from "./help.ts";
import { inventoryApply } from "./inventory-apply.ts";
import { netboxSetup } from "./netbox-setup.ts";
import { plan } from "./plan.ts";
import { plain } from "./text.ts";
import { verify } from "./verify.ts";

export const COMMANDS: readonly Command[] = [
  accept,
  adopt,
  approve,
  claims,
  config,
  devices,
  diff,
  doctor,
  eventlog,
  explain,
  inventoryApply,
  netboxSetup,
  plan,
  verify,
];

const FAULT_EXIT_CODE = 70;
const VERSION: string = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;

/** Carries out one call. @returns its exit code */
export async function fleetctl(argv: readonly string[], io: Io): Promise<number> {
  const [name] = argv;
  if (name === "--version" || name === "version") {
    io.out(`fleetctl ${VERSION}`);
    return 0;
  }
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    const asked = commandIn(argv.slice(1));
    io.out(asked ? commandHelp(asked) : overview(COMMANDS));
    return name === undefined ? USAGE_EXIT_CODE : 0;
  }
  const command = commandIn(argv);
  if (!command) {
    io.err(`fleetctl: no command ${plain(name)}; fleetctl help lists them`);
    return USAGE_EXIT_CODE;
  }
  try {
    const args = argumentsOf(command, argv.slice(command.name.split(" ").length));
    if (args.flag("help")) {
      io.out(commandHelp(command));
      return 0;
    }
    return await command.run(args, io);
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`fleetctl ${command.name}: ${plain(error.message)}; fleetctl ${command.name} --help says more`);
      return USAGE_EXIT_CODE;
    }
    // Never 1 or 2: those are answers.
    io.err(
      `fleetctl ${command.name}: this should not happen: ${plain(error instanceof Error ? `${error.stack}` : String(error))}`,
    );
    return FAULT_EXIT_CODE;
  }
}

/** The command that the words begin with; a name may have two words. */
function commandIn(words: readonly string[]): Command | undefined {
  return COMMANDS.find((one) => one.name.split(" ").every((word, i) => word === words[i]));
}

function argumentsOf(command: Command, rest: readonly string[]): Arguments {
  try {
    const options = parseArgsOptions(command);
    const { values, positionals } = parseArgs({ args: [...rest], options, allowPositionals: true });
    const given = new Map(Object.entries(values));
    return {
      files: positionals,
      flag: (option) => given.get(option) === true,
      value: (option) => {
        const value = given.get(option);
        return typeof value === "string" ? value : undefined;
      },
      values: (option) => {
        const value = given.get(option);
        return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
      },
    };
  } catch (error) {
    // parseArgs says which option is wrong, and then advises at length.
    throw new UsageError(error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error));
  }
}

if (import.meta.main) {
  // npm runs scripts in the checkout; a person's paths are meant from where the person is.
  if (process.env.npm_lifecycle_event === "fleetctl" && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  // A reader that has seen enough (`| head`) is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 74));
  process.exitCode = await fleetctl(process.argv.slice(2), {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    env: process.env,
  });
}
