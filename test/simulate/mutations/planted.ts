import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Mutation } from "./list.ts";

const STEPS = 300;
const STORE_CALLS = 120;

export interface Found {
  readonly seed: number;
  readonly by: string;
  readonly text: string;
}

/** Plants a mutation in a process of its own and lets the seeds look for it; null: not found, a word: it could not be tried. */
export function planted({ name, caughtBy }: Mutation, from: number, to: number): Found | null | string {
  const steps = caughtBy === "store" ? STORE_CALLS : STEPS;
  const hook = ["--import", join(import.meta.dirname, "hook.ts")];
  const child = spawnSync(
    process.execPath,
    [...hook, join(import.meta.dirname, "hunt.ts"), caughtBy, String(from), String(to), String(steps)],
    { env: { ...process.env, FLEETD_MUTATION: name }, encoding: "utf8" },
  );
  if (child.status !== 0) return child.stderr.trim().split("\n").at(-1) ?? `exit ${child.status}`;
  return JSON.parse(child.stdout.trim().split("\n").at(-1) ?? "null") as Found | null;
}
