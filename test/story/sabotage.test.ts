import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runStory } from "./cli.ts";

/** What the story must find wrong first, by sabotage. */
const FINDS: Readonly<Record<string, RegExp>> = {
  "verifier-accepts-all": /w4 is refused with the reason/,
  "code-served-twice": /a second read with the same code is refused/,
  "success-with-an-action-missing": /does not believe a SUCCESS with an action missing/,
  "power-never-off": /turned it off by a Job made after the erasure/,
  "if-match-ignored": /of the owner's \d+ edits was lost/,
  "another-nodes-csr-approved": /the stranger's CSR is left alone/,
};

describe("a fleetd that is spoiled makes the story fail (each is one mistake in its own code)", () => {
  it("has one row a sabotage", () => {
    const names = readdirSync(new URL("./sabotages/", import.meta.url)).map((f) => f.replace(".ts", ""));
    expect(names.sort()).toEqual(Object.keys(FINDS).sort());
  });

  it.each(Object.entries(FINDS))(
    "%s",
    async (name, finds) => {
      const { code, result, stderr } = await runStory([
        "--serve",
        new URL(`./sabotages/${name}.ts`, import.meta.url).pathname,
      ]);
      expect(result?.failed.join("\n") ?? `no result: ${stderr}`).toMatch(finds);
      expect(code).toBe(1);
    },
    300_000,
  );
});
