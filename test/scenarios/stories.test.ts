import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { acceptStories } from "./accept-stories.ts";
import { renewalStories } from "./renewal-stories.ts";
import { requestStories } from "./request-stories.ts";
import { retirementStories } from "./retirement-stories.ts";
import { type Story, stories } from "./stories.ts";

const all: readonly Story[] = [
  ...stories,
  ...renewalStories,
  ...acceptStories,
  ...requestStories,
  ...retirementStories,
];
const folder = new URL("./golden/", import.meta.url);

describe("golden stories: observations in, plan by plan out", () => {
  it.each(all.map((s: Story) => [s.name, s] as const))("%s", async (name, story) => {
    const text = `${story.tell().lines.join("\n")}\n`;
    await expect(text).toMatchFileSnapshot(new URL(`${name}.txt`, folder).pathname);
  });

  it("has no golden file without a story", () => {
    const names = new Set(all.map((s) => `${s.name}.txt`));
    expect(readdirSync(folder).filter((f) => !names.has(f))).toEqual([]);
  });
});
