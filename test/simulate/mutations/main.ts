import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { table } from "../../bench/measure.ts";
import { MUTATIONS, type Mutation } from "./list.ts";

/**
 * Plants each mutation of the list alone and lets the seeds look for it: `npm run simulate:mutations [-- NAME …]`. Prints
 * which seed found what; exit 1 where one was not found within the seeds, or does not fit its file any more.
 */
const SEEDS = 60;
const STEPS = 400;
const STORE_CALLS = 120;

interface Found {
  readonly seed: number;
  readonly by: string;
  readonly text: string;
}

function hunt({ name, caughtBy }: Mutation): Found | null | string {
  const steps = caughtBy === "store" ? STORE_CALLS : STEPS;
  const hook = ["--import", join(import.meta.dirname, "hook.ts")];
  const child = spawnSync(
    process.execPath,
    [...hook, join(import.meta.dirname, "hunt.ts"), caughtBy, String(SEEDS), String(steps)],
    { env: { ...process.env, FLEETD_MUTATION: name }, encoding: "utf8" },
  );
  if (child.status !== 0) return child.stderr.trim().split("\n").at(-1) ?? `exit ${child.status}`;
  return JSON.parse(child.stdout.trim().split("\n").at(-1) ?? "null") as Found | null;
}

const asked = process.argv.slice(2);
const chosen = asked.length === 0 ? MUTATIONS : MUTATIONS.filter(({ name }) => asked.includes(name));
const rows: string[][] = [["mutation", "file", "caught by", "seed", "s"]];
let missed = 0;
for (const mutation of chosen) {
  const startedMs = performance.now();
  const found = hunt(mutation);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const caught = found !== null && typeof found !== "string";
  if (!caught) missed++;
  rows.push([
    mutation.name,
    mutation.file,
    typeof found === "string" ? found : (found?.by ?? "NOT CAUGHT"),
    caught ? String(found.seed) : "-",
    seconds,
  ]);
  process.stderr.write(
    `${mutation.name}: ${caught ? `${found.by}: ${found.text.slice(0, 160)}` : (found ?? "not caught")}\n`,
  );
}
process.stdout.write(`${table(rows)}\n${chosen.length - missed} of ${chosen.length} caught\n`);
process.exit(missed === 0 ? 0 : 1);
