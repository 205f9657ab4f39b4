import { expect, test } from "vitest";
import { counted } from "./fuzz/instrument.ts";
import { chanceOf, Loop } from "./fuzz/loop.ts";
import { withDigests } from "./fuzz/written-log.ts";
import { recordLog } from "./logs.ts";

/** A reader with a fault behind four octets, each of which it takes by a branch of its own. */
function loopOver(seed: number): Loop {
  const counts = new Uint8Array(8);
  const run = (bytes: Uint8Array) => {
    for (const [i, octet] of [0x8f, 0x07, 0xfe, 0x44].entries()) {
      if (bytes[i] !== octet) return;
      counts[i] = 1;
    }
    throw new Error("found");
  };
  return new Loop({ target: "any", run, counts, seeds: [new Uint8Array(8)], random: chanceOf(seed, "any") });
}

test("a fault behind four octets is found by its branches, and again by the same seed", () => {
  const runsUntilFound = () => {
    const loop = loopOver(7);
    while (loop.findings.length === 0 && loop.runs < 200_000) loop.turn();
    expect([...(loop.findings[0]?.bytes ?? []).slice(0, 4)]).toEqual([0x8f, 0x07, 0xfe, 0x44]);
    return loop.runs;
  };
  // By chance alone one in 2³² would be.
  expect(runsUntilFound()).toBe(runsUntilFound());
});

test("each branch of a module is counted", () => {
  const source = `const f = (a: number): string => { if (a > 1) return "many"; else if (a === 1) return "one"; return a < 0 ? "less" : "none"; }; globalThis.answer = [f(0), f(2)];`;
  const code = counted(source);
  const places = (code.match(/hostilityCounts\[\d+\]\+\+/g) ?? []).length;
  expect(places).toBe(7);
  expect(code).not.toContain(": number");
});

test("mutated logs get the digests that firmware would have written", () => {
  const { log } = recordLog([{ pcr: 7, type: 4, data: new Uint8Array(4) }]);
  expect(withDigests(log)).toEqual(log);
  const changed = log.slice();
  changed[changed.length - 1] = 1;
  const repaired = withDigests(changed);
  expect(repaired).toEqual(recordLog([{ pcr: 7, type: 4, data: Uint8Array.of(0, 0, 0, 1) }]).log);
});
