import { at, Random } from "./random.ts";

/** What a run looks for: each seed has one or two of them, and what they are about then happens every few steps. */
export const THEMES = [
  "gates",
  "agents",
  "bmc",
  "csrs",
  "readers",
  "keys",
  "memory",
  "crowd",
  "renewals",
  "vanishing",
  "failing",
  "words",
  "names",
] as const;
export type Theme = (typeof THEMES)[number];

/** The themes of a seed: they decide its fleet, too, and so do not depend on what is drawn later. */
export function themesOf(seed: number): ReadonlySet<Theme> {
  const random = new Random(seed ^ 0x7ee5);
  // In turn, so that few seeds have all of them.
  const own = at(THEMES, seed);
  return new Set(random.chance(0.5) ? [own] : [own, random.pick(THEMES)]);
}
