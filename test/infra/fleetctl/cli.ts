import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fleetctl } from "../../../infra/fleetctl/main.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** One call in this process, as a person's: nothing of the environment but what is given. */
export async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const io = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line), env };
  const code = await fleetctl(args, io);
  return { code, out: out.join("\n"), err: err.join("\n") };
}

/** One call as a process of its own. */
export function runProcess(args: readonly string[]): Ran {
  const main = join(import.meta.dirname, "../../../infra/fleetctl/main.ts");
  const done = spawnSync(process.execPath, [main, ...args], { encoding: "utf8", env: {} });
  return { code: done.status ?? -1, out: done.stdout, err: done.stderr };
}

/** A file of its own for a value. */
export function jsonFile(value: unknown, name = "bundle.json"): string {
  return textFile(JSON.stringify(value), name);
}

export function textFile(content: string | Uint8Array, name: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "fleetctl-")), name);
  writeFileSync(path, content);
  return path;
}

export function vectorPath(path: string): string {
  return new URL(`../../vectors/${path}`, import.meta.url).pathname;
}
