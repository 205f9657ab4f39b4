import { simulate } from "./run.ts";
import { shrunk } from "./shrink.ts";
import { storyOf } from "./story.ts";

const SHRINK_MS = 60_000;

interface Options {
  from: number;
  to: number;
  steps: number;
  seconds: number | null;
  json: boolean;
}

function optionsOf(args: readonly string[]): Options {
  const value = (name: string) => {
    const at = args.indexOf(`--${name}`);
    return at < 0 ? undefined : args[at + 1];
  };
  const [from = "1", to = from] = (value("seed") ?? value("seeds") ?? "1").split("..");
  const seconds = value("seconds");
  return {
    from: Number(from),
    to: seconds === undefined ? Number(to) : Number.POSITIVE_INFINITY,
    steps: Number(value("steps") ?? 1000),
    seconds: seconds === undefined ? null : Number(seconds),
    json: args.includes("--json"),
  };
}

const args = process.argv.slice(2);
const options = optionsOf(args);
if (![options.from, options.steps].every((n) => Number.isSafeInteger(n)) || Number.isNaN(options.to)) {
  console.error("npm run simulate -- [--seed N | --seeds A..B] [--steps M] [--seconds S] [--json]");
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
  if (args.includes("--short"))
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
