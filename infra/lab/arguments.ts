import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type ParseArgsConfig, parseArgs } from "node:util";

const USAGE_EXIT_CODE = 64;

/** The options of a command's line; help, and what is none of them, end the process with its usage: 0 and 64. */
export function argumentsOf<T extends NonNullable<ParseArgsConfig["options"]>>(usage: string, options: T) {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: "boolean", short: "h" } } });
    if (!("help" in values && values.help === true)) return parseArgs({ options }).values;
  } catch (error) {
    // parseArgs says which option is wrong, and then advises at length.
    return leave(usage, (error as Error).message.split(". ")[0]);
  }
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}

/** Ends the process: what is wrong, and the usage. */
export function leave(usage: string, wrong = "a wrong call"): never {
  process.stderr.write(`${wrong}\n${usage}\n`);
  process.exit(USAGE_EXIT_CODE);
}

/** What is wrong with a folder for a lab's state, which is made where it is not there; null where it can be used. */
export function stateFault(path: string): string | null {
  try {
    makeFolder(resolve(path));
    if (!statSync(path).isDirectory()) return "is no folder";
    rmdirSync(mkdtempSync(join(path, ".try-")));
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EEXIST" ? "is no folder" : `cannot be written to (${code})`;
  }
}

// One by one: mkdirSync's `recursive` never ends where the parent is there and takes nothing, as in /proc.
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  mkdirSync(path);
}

/** What is wrong with a file or folder that is read, or null. */
export function inputFault(path: string, kind: "file" | "folder"): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return "is not there";
  return (kind === "folder" ? found.isDirectory() : found.isFile()) ? null : `is no ${kind}`;
}
