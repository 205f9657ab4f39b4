import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Story, stories } from "./stories.ts";

const folder = new URL("./golden/", import.meta.url);

describe("golden stories: observations in, plan by plan out", () => {
  it.each(stories.map((s: Story) => [s.name, s] as const))("%s", async (name, story) => {
    const text = `${story.tell().lines.join("\n")}\n`;
    await expect(text).toMatchFileSnapshot(new URL(`${name}.txt`, folder).pathname);
  });

  it("has no golden file without a story", () => {
    const names = new Set(stories.map((s) => `${s.name}.txt`));
    expect(readdirSync(folder).filter((f) => !names.has(f))).toEqual([]);
  });
});
