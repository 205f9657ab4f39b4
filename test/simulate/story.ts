import type { Outcome } from "./run.ts";

/** Calls that only look: a story tells what was done. */
const LOOKS =
  /: (netbox\.(device|devices|changes|changedSince)|bootPlane\.(objects|template)|cluster\.(nodes|pods|csrs|bootstrapTokens|othersApprove)|records\.(all|open|of|get|byUuid|byNode|fleet)|store\.\w+|files\.\w+|time\.\w+)( [^→]*)?$/;
const LONG = 160;

/** The run as a story, as test/scenarios/golden tells them: who did what, and what each pass and handler did then. */
export function linesOf(outcome: Outcome): string[] {
  return outcome.lines.filter((line) => !LOOKS.test(line)).map((line) => line.slice(0, LONG));
}

/** A failure as a story: what it broke, how it came to it, and the decisions to do it again by. */
export function storyOf(outcome: Outcome): string {
  const { seed, violation, decisions } = outcome;
  return [
    `seed ${seed}: invariant ${violation?.invariant}: ${violation?.text}`,
    `${decisions.length} decisions:`,
    ...decisions.map((decision) => `  ${JSON.stringify(decision)}`),
    "story:",
    ...linesOf(outcome),
  ].join("\n");
}
