import { parseEnv } from "node:util";
import type { z } from "zod";
import { DEFAULT_DURATIONS } from "../../shared/fleet/limits.ts";
import { durationVariable, readSettings } from "../../shared/runtime/config.ts";
import { namesSecretFile } from "../../shared/runtime/setting-kinds.ts";
import { settingsSchema } from "../../shared/runtime/settings-table.ts";
import { type Command, JSON_OPTION, UsageError } from "./_command.ts";
import { readInput } from "./files.ts";
import { columns, plain } from "./text.ts";

const FAULTY = 1;
const UNREADABLE = 2;

interface Effective {
  readonly name: string;
  /** null: not set, and without a default. */
  readonly value: string | null;
  readonly from: "environment" | "default";
  /** The value names a file whose contents are not shown. */
  readonly secret: boolean;
}

/** A URL without its user and password. */
function masked(text: string): string {
  return text.replace(/^([a-z]+:\/\/)[^@/]*@/i, "$1***@");
}

function defaultText(field: z.ZodType): string | null {
  const read = field.safeParse(undefined);
  if (!read.success || read.data === undefined || read.data === null) return null;
  return Array.isArray(read.data) ? read.data.join(" ") : String(read.data);
}

function effective(env: Readonly<Record<string, string | undefined>>): Effective[] {
  const fields: Readonly<Record<string, z.ZodType>> = settingsSchema.shape;
  const of = (name: string, fallback: string | null): Effective => {
    const set = env[name];
    const value = set === undefined ? fallback : masked(set);
    return { name, value, from: set === undefined ? "default" : "environment", secret: namesSecretFile(name) };
  };
  return [
    ...Object.entries(fields).map(([name, field]) => of(name, defaultText(field))),
    ...Object.entries(DEFAULT_DURATIONS).map(([name, ms]) => of(durationVariable(name), String(ms))),
  ];
}

/** @returns the faults of the settings, as fleetd would tell them at its start */
function faults(env: Readonly<Record<string, string | undefined>>): string[] {
  try {
    readSettings(env);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").slice(1);
  }
}

/** The variables of a file, or those at hand; words where the file cannot be read. */
export async function settingsEnvironment(path: string | undefined, env: Readonly<Record<string, string | undefined>>) {
  if (path === undefined) return env;
  const bytes = await readInput(path);
  return typeof bytes === "string" ? bytes : parseEnv(new TextDecoder().decode(bytes));
}

/** What fleetd would run with. @see spec/00-overview.md "Settings" */
export const config: Command = {
  name: "config",
  operands: "",
  summary: "print fleetd's effective settings, secrets masked",
  details: [
    "Prints every FLEET_* setting as fleetd would run with it: from this environment, or from --from alone, else its default.",
    "Faults are told as fleetd tells them at its start. Contents of files with secrets and passwords in URLs are never shown.",
    "With --json: {settings: [{name, value, from, secret}], faults}.",
  ].join("\n"),
  options: {
    from: {
      type: "string",
      placeholder: "FILE",
      help: "NAME=value lines in the environment's place, as systemd's",
    },
    json: JSON_OPTION,
  },
  exitCodes: { 0: "fleetd would start", [FAULTY]: "it would refuse", [UNREADABLE]: "the file cannot be read" },
  async run(args, io) {
    if (args.files.length > 0) throw new UsageError("no operand is taken");
    const path = args.value("from");
    const env = await settingsEnvironment(path, io.env);
    if (typeof env === "string") {
      io.err(`fleetctl config: ${plain(path ?? "")}: ${env}`);
      return UNREADABLE;
    }
    const settings = effective(env);
    const wrong = faults(env);
    if (args.flag("json")) io.out(JSON.stringify({ settings, faults: wrong.map((one) => one.trim()) }));
    else {
      const rows = settings.map(({ name, value, from, secret }) => {
        const shown = value === null ? "(not set)" : secret ? `${value} (secret, not shown)` : value;
        return [name, from, shown].map(plain);
      });
      for (const line of columns(rows, "")) io.out(line);
      for (const one of wrong) io.err(plain(`fleetctl config: ${one.trim()}`));
    }
    return wrong.length === 0 ? 0 : FAULTY;
  },
};
