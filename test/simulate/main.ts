import { parseArgs } from "node:util";
import { simulate } from "./run.ts";
import { shrunk } from "./shrink.ts";
import { storyOf } from "./story.ts";

const SHRINK_MS = 60_000;

interface Options {
  readonly from: number;
  readonly to: number;
  readonly steps: number;
  readonly seconds: number | null;
  readonly json: boolean;
  readonly short: boolean;
}

const USAGE = "npm run simulate -- [--seed N | --seeds A..B] [--steps M] [--seconds S] [--json] [--short]";

/** Null where an option is unknown, no whole number, or names no seed. */
function optionsOf(args: readonly string[]): Options | null {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    const options = { seed: text, seeds: text, steps: text, seconds: text, json: flag, short: flag };
    const { values } = parseArgs({ args: [...args], options });
    const [from = "1", to = from] = (values.seed ?? values.seeds ?? "1").split("..");
    const numbers = [from, to, values.steps ?? "1000", values.seconds ?? "1"];
    if (!numbers.every((one) => /^\d{1,15}$/.test(one)) || Number(from) > Number(to)) return null;
    const seconds = values.seconds === undefined ? null : Number(values.seconds);
    const last = seconds === null ? Number(to) : Number.POSITIVE_INFINITY;
    const steps = Number(values.steps ?? 1000);
    return { from: Number(from), to: last, steps, seconds, json: values.json, short: values.short };
  } catch {
    return null;
  }
}

const options = optionsOf(process.argv.slice(2));
if (options === null) {
  console.error(USAGE);
  process.exit(2);
}
const started = Date.now();
/** With --json, stdout has the JSON alone. */
const tell = options.json ? console.error : console.log;
const faults = new Map<string, number>();
let seeds = 0;
let steps = 0;
let simulatedMs = 0;
let failed = 0;
for (let seed = options.from; seed <= options.to; seed++) {
  if (options.seconds !== null && Date.now() - started > options.seconds * 1000) break;
  const outcome = await simulate(seed, options.steps);
  seeds++;
  steps += outcome.steps;
  simulatedMs += outcome.simulatedMs;
  for (const [name, count] of Object.entries(outcome.faults)) faults.set(name, (faults.get(name) ?? 0) + count);
  if (options.from === options.to) tell(`trace ${outcome.traceHash}`);
  if (outcome.violation === null) continue;
  failed++;
  if (options.short)
    tell(
      `seed ${seed}: ${outcome.violation.invariant}: ${outcome.violation.text.slice(0, 220)} (${outcome.steps} steps)`,
    );
  else tell(storyOf(await shrunk(outcome, SHRINK_MS)));
}
const seconds = (Date.now() - started) / 1000;
const told = {
  seeds,
  steps,
  simulatedDays: Math.round(simulatedMs / 86_400_000),
  faults: Object.fromEntries([...faults].sort(([a], [b]) => (a < b ? -1 : 1))),
  failed,
  stepsASecond: Math.round(steps / seconds),
};
console.log(
  options.json
    ? JSON.stringify(told)
    : `${seeds} seeds, ${steps} steps, ${told.simulatedDays} simulated days, ${told.stepsASecond} steps a second, ${failed} failed\nfaults: ${JSON.stringify(told.faults)}`,
);
process.exit(failed === 0 ? 0 : 1);
