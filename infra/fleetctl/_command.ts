import type { ParseArgsConfig } from "node:util";

/** Where a command writes and what it was told: nothing but its output goes to `out`. */
export interface Io {
  out(line: string): void;
  err(line: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Arguments {
  readonly files: readonly string[];
  flag(name: string): boolean;
  value(name: string): string | undefined;
  /** Every value of an option that may be given again. */
  values(name: string): readonly string[];
}

export interface Option {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly help: string;
  /** What stands for the value in the help; for options of type string. */
  readonly placeholder?: string;
}

/** One thing that fleetctl does: one file each. */
export interface Command {
  readonly name: string;
  readonly operands: string;
  readonly summary: string;
  readonly details: string;
  readonly options: Readonly<Record<string, Option>>;
  readonly exitCodes: Readonly<Record<number, string>>;
  /** The exit code. @throws UsageError where it was asked for in a wrong way */
  run(args: Arguments, io: Io): Promise<number>;
}

/** A wrong call: told with the way to the help, exit code 64. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const USAGE_EXIT_CODE = 64;

export const JSON_OPTION: Option = { type: "boolean", help: "for programs: JSON instead of text" };

export function parseArgsOptions(command: Command): NonNullable<ParseArgsConfig["options"]> {
  const entries = Object.entries(command.options).map(([name, { type, multiple }]) => {
    return [name, { type, multiple: multiple ?? false }] as const;
  });
  return { ...Object.fromEntries(entries), help: { type: "boolean", short: "h" } };
}
