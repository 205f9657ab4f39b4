import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { settingsDoc } from "../../../infra/tools/settings-doc.ts";
import { readSettings } from "../../../shared/runtime/config.ts";

const rows = new Map(
  settingsDoc()
    .split("\n")
    .flatMap((line) => {
      const [, name, fallback, what] = /^\| `(FLEET_\w+)` \| (.*?) \| (.*) \|$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, { fallback, what }] as const];
    }),
);

it("says `required` of those settings that fleetd misses, and of no others", () => {
  let said = "";
  try {
    readSettings({});
  } catch (error) {
    said = (error as Error).message;
  }
  const missing = Array.from(said.matchAll(/(FLEET_\w+): is missing$/gm), ([, name]) => name);
  expect(missing.length).toBeGreaterThan(10);
  const required = [...rows].filter(([, row]) => row.fallback === "**required**").map(([name]) => name);
  expect(required.sort()).toEqual(missing.sort());
});

it("has each setting once, with words, defaults and values", () => {
  expect(rows.size).toBe(settingsDoc().match(/^\| `FLEET_/gm)?.length);
  for (const [name, row] of rows) expect([name, row.what?.length]).toEqual([name, expect.toSatisfy((n) => n > 9)]);
  expect(rows.get("FLEET_REDIS_PERSISTENCE")).toMatchObject({
    fallback: "`refuse`",
    what: expect.stringMatching(/^`refuse`, `accept`; /),
  });
  expect(rows.get("FLEET_CA_CONCURRENCY")?.fallback).toBe("`1`");
  expect(rows.get("FLEET_CONTROL_PLANES")).toMatchObject({
    fallback: "`false`",
    what: expect.stringContaining("`true`"),
  });
  expect(rows.get("FLEET_SESSION_MS")?.fallback).toBe("600000 (10 min)");
  expect(rows.get("FLEET_CA_PIN_FILE")?.what).toContain("*(secret)*");
  expect(rows.get("FLEET_EK_PINS")?.what).not.toContain("*(secret)*");
});

it("is the file of infra/docs, and the check says so", () => {
  expect(readFileSync("infra/docs/settings.md", "utf8")).toBe(settingsDoc());
  expect(execFileSync(process.execPath, ["infra/tools/gen.mjs", "--check"], { encoding: "utf8" })).toBe("");
});
