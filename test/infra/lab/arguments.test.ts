import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { inputFault, stateFault } from "../../../infra/lab/arguments.ts";

const folder = mkdtempSync(join(tmpdir(), "fleetd-arguments-"));
const file = join(folder, "file");
writeFileSync(file, "");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (main: string, args: readonly string[]) =>
  spawnSync(process.execPath, [main, ...args], { encoding: "utf8", timeout: 20_000 });

describe.each([
  ["infra/lab/main.ts", "usage: npm run -s lab -- --state DIR [--classes FILE] [--profiles DIR]\n"],
  ["infra/lab/story/main.ts", "usage: npm start -- [--once] [--json] [--state DIR]\n"],
])("%s", (main, usage) => {
  it("--help: its usage, 0", () => {
    for (const help of ["--help", "-h"])
      expect(run(main, [help])).toMatchObject({ status: 0, stdout: usage, stderr: "" });
  });
  it.each([
    [["--hlep"], "Unknown option '--hlep'"],
    [["stray"], "Unexpected argument 'stray'"],
    [["--state"], "Option '--state <value>' argument missing"],
    [["--state", file], `--state ${file} is no folder`],
    [["--state", "/proc/x"], "--state /proc/x cannot be written to (ENOENT)"],
  ])("%j: what is wrong, its usage, 64, and no trace of the code", (args, wrong) => {
    const { status, stdout, stderr } = run(main, args);
    expect([status, stdout, stderr]).toEqual([64, "", `${wrong}\n${usage}`]);
  });
});

it("the lab without a state, or with inputs that are not there", () => {
  const state = join(folder, "state");
  const said = (...args: string[]) => run("infra/lab/main.ts", args).stderr.split("\n")[0];
  expect(said()).toBe("--state DIR is needed");
  expect(said("--state", state, "--classes", "/nowhere")).toBe("--classes /nowhere is not there");
  expect(said("--state", state, "--profiles", file)).toBe(`--profiles ${file} is no folder`);
});

it("a folder for a state is made, and nothing is left in it", () => {
  const deep = join(folder, "a/b/c");
  expect(stateFault(deep)).toBeNull();
  expect([existsSync(deep), readdirSync(deep)]).toEqual([true, []]);
  expect(inputFault(file, "file")).toBeNull();
  expect(inputFault(folder, "file")).toBe("is no file");
});
