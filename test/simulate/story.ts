import type { Outcome } from "./run.ts";

/** A failure as a story: what it broke and how it came to it. */
export async function storyOf(outcome: Outcome): Promise<string> {
  const { seed, violation, lines } = outcome;
  return [`seed ${seed}: invariant ${violation?.invariant}: ${violation?.text}`, ...lines.slice(-60)].join("\n");
}
