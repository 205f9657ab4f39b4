import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { cached, cacheFolder, cacheRoot } from "./cache.ts";

describe("the peers' cache", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "peers-cache-"));
    vi.stubEnv("FLEETD_PEERS_CACHE", root);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true });
  });
  const make = async (folder: string) => writeFileSync(join(folder, "program"), "");

  test("is one place, whatever folder a builder runs in", async () => {
    vi.stubEnv("FLEETD_PEERS_CACHE", relative(process.cwd(), root));
    expect(cacheRoot()).toBe(root);
    expect(await cached({ name: "one" }, make, "program")).toBe(cacheFolder({ name: "one" }));
  });

  test("keeps nothing in which the product is not, and mends a folder that is empty", async () => {
    await expect(cached({ name: "one" }, async () => undefined)).rejects.toThrow(/^one: its installation made no \.$/);
    await expect(cached({ name: "one" }, make, "other")).rejects.toThrow(/^one: its installation made no other$/);
    expect(readdirSync(root)).toEqual([]);
    mkdirSync(cacheFolder({ name: "one" }));
    expect(readdirSync(await cached({ name: "one" }, make, "program"))).toEqual(["program"]);
  });

  test("removes what a killed installation left a day ago, and nothing younger", async () => {
    for (const name of ["a-0.new-AAAAAA", "b-0.new-BBBBBB", "c-0"]) mkdirSync(join(root, name));
    for (const name of ["a-0.new-AAAAAA", "c-0"]) utimesSync(join(root, name), 1, 1);
    await cached({ name: "one" }, make);
    expect(readdirSync(root).filter((name) => !name.startsWith("one"))).toEqual(["b-0.new-BBBBBB", "c-0"]);
  });

  test("that cannot be written to says which it is", async () => {
    writeFileSync(join(root, "file"), "");
    vi.stubEnv("FLEETD_PEERS_CACHE", join(root, "file", "below"));
    await expect(cached({ name: "one" }, make)).rejects.toThrow(
      /cache \S+below cannot be written to \(FLEETD_PEERS_CACHE/,
    );
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s during an installation ends it with 1, and leaves neither file nor process",
    async (signal) => {
      const pids = join(root, "pids");
      const script = `
      const [{ cached }, { run }] = await Promise.all([import(process.argv[1]), import(process.argv[2])]);
      await cached({ name: "slow" }, async (at) => {
        await run("sh", ["-c", "sleep 600 & echo $! $$ > " + process.argv[3] + "; touch " + at + "/half; wait"]);
      });`;
      const modules = ["cache.ts", "process.ts"].map((file) => join(import.meta.dirname, file));
      const child = spawn(process.execPath, ["--input-type=module", "-e", script, ...modules, pids], {
        stdio: "ignore",
      });
      await expect
        .poll(() => existsSync(pids) && readFileSync(pids, "utf8").endsWith("\n"), { timeout: 10_000 })
        .toBe(true);
      child.kill(signal);
      expect(await once(child, "exit")).toEqual([1, null]);
      expect(readdirSync(root)).toEqual(["pids"]);
      const alive = () => readFileSync(pids, "utf8").trim().split(" ").filter(isAlive);
      await expect.poll(alive).toEqual([]);
    },
  );
});

/** A process that nobody has waited for yet is none. */
function isAlive(pid: string): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
