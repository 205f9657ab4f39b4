import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SEEDS } from "./fuzz/seeds.ts";
import { TARGETS } from "./fuzz/targets.ts";

const folder = new URL("corpus/", import.meta.url);
const filesOf = (target: string): string[] => readdirSync(new URL(`${target}/`, folder)).sort();
const bytesOf = (target: string, name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`${target}/${name}`, folder)));

test("every reader has a corpus, and the corpus is small", () => {
  expect(readdirSync(folder).sort()).toEqual(Object.keys(TARGETS).sort());
  const bytes = Object.keys(TARGETS).flatMap((target) => filesOf(target).map((name) => bytesOf(target, name).length));
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(3_000_000);
});

// What fuzzing found to go ways of its own, kept: each target throws where one of its promises is broken.
describe.each(Object.entries(TARGETS))("%s", (target, run) => {
  test("kept inputs: refused as they may be, or read, and written as read, and the same answer twice", () => {
    const names = filesOf(target);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(() => run(bytesOf(target, name)), `${target}/${name}`).not.toThrow();
  });

  test("what mutations begin with", () => {
    for (const seed of SEEDS[target]?.() ?? []) expect(() => run(seed)).not.toThrow();
  });
});
