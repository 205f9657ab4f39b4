import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

const main = new URL("./main.ts", import.meta.url).pathname;
const simulate = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });

describe("npm run simulate", () => {
  it.each([[["--bogus"]], [["--seeds", "5..1"]], [["--seed", "foo"]], [["--seconds", "foo"]], [["--steps", "-1"]]])(
    "%s is told, and nothing is tried",
    (args) => {
      const { status, stdout, stderr } = simulate(...args);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^npm run simulate -- /);
    },
  );

  it("--json is one line of JSON", () => {
    const { status, stdout } = simulate("--seeds", "1..2", "--steps", "50", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ seeds: 2, failed: 0 });
  });
});
