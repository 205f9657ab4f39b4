import { expect, it } from "vitest";
import { MUTATIONS } from "./list.ts";
import { planted } from "./planted.ts";

/** Two that are found soon, by a child process each: the machinery that plants and hunts still works. */
it.each([
  ["allowPXE stays on", 1, 6],
  ["memory: two readers at once", 1, 6],
])(
  "%s: is caught",
  (name, from, to) => {
    const mutation = MUTATIONS.find((one) => one.name === name);
    expect(mutation && planted(mutation, from, to)).toMatchObject({ seed: expect.any(Number) });
  },
  120_000,
);
