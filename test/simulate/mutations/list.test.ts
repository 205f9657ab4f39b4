import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { MUTATIONS } from "./list.ts";

it.each(MUTATIONS.map((one) => [one.name, one] as const))(
  "%s: its line stands exactly once in its file",
  (_name, { file, find }) => {
    const text = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
    expect(text.split(find)).toHaveLength(2);
  },
);

it("are at least twenty, each of its own name", () => {
  expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
  expect(MUTATIONS.length).toBeGreaterThanOrEqual(20);
});
