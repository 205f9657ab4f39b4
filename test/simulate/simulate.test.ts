import { expect, it } from "vitest";
import { simulate } from "./run.ts";
import { shrunk } from "./shrink.ts";
import { storyOf } from "./story.ts";

const SEEDS = 200;
const STEPS = 120;
const SHRINK_MS = 20_000;

it("one seed gives one trace, byte by byte", async () => {
  for (const seed of [3, 8, 23]) {
    const [first, second] = [await simulate(seed, STEPS), await simulate(seed, STEPS)];
    expect(second.traceHash).toBe(first.traceHash);
    expect(first.steps).toBeGreaterThan(STEPS);
  }
}, 60_000);

it(`${SEEDS} seeds, and one of FLEETD_SEED: no invariant of spec/80 breaks`, async () => {
  const own = process.env.FLEETD_SEED;
  const seeds = [...Array.from({ length: SEEDS }, (_, n) => n + 1), ...(own === undefined ? [] : [Number(own)])];
  const broken: string[] = [];
  for (const seed of seeds) {
    const outcome = await simulate(seed, STEPS);
    if (outcome.violation !== null) broken.push(storyOf(await shrunk(outcome, SHRINK_MS)));
  }
  expect(broken.join("\n\n")).toBe("");
}, 600_000);
