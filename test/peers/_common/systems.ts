import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { memoryBelow } from "./memory.ts";

export interface SystemReport {
  readonly name: string;
  readonly installSeconds: number;
  readonly testSeconds: number;
  /** The most that all its processes held at one moment, vitest's own left out. */
  readonly peakMebibytes: number;
  readonly passed: number;
  readonly failed: number;
}

const ROOT = "test/peers";
const FIRST = ["netbox", "redis", "kubernetes", "tinkerbell", "spire", "story"];
const SAMPLE_MS = 1000;
/** A system that hangs is one failure, not the end of CI's time. */
const LIMIT_MS = 25 * 60_000;
const MIB = 1024 * 1024;

/** Folders with *.peer.ts, the known ones first and in their order. */
export function systems(): string[] {
  const found = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .filter((name) => readdirSync(join(ROOT, name)).some((file) => file.endsWith(".peer.ts")));
  return [...FIRST.filter((name) => found.includes(name)), ...found.filter((name) => !FIRST.includes(name)).sort()];
}

/** How an installation ended: what is wrong, or null. */
export interface Installed {
  readonly seconds: number;
  readonly fault: string | null;
}

/**
 * Installs the systems one after another, without being waited for: beside the tests of the systems before theirs, Go's
 * builders at low priority.
 */
export function installAll(names: readonly string[]): ReadonlyMap<string, Promise<Installed>> {
  const ends = new Map<string, Promise<Installed>>();
  let before: Promise<unknown> = Promise.resolve();
  for (const name of names) {
    const end = before.then(() => install(name));
    ends.set(name, end);
    before = end;
  }
  return ends;
}

async function install(name: string): Promise<Installed> {
  const begunMs = Date.now();
  process.stdout.write(`== ${name}: install\n`);
  let fault: string | null = null;
  try {
    await installSystem(name);
  } catch (error) {
    fault = error instanceof Error ? error.message : "not installed";
    process.stderr.write(`== ${name}: ${fault}\n`);
  }
  return { seconds: secondsSince(begunMs), fault };
}

/** Runs one system's tests once it is installed; what cannot be installed is one failure. */
export async function runSystem(name: string, installed: Promise<Installed>): Promise<SystemReport> {
  const { seconds, fault } = await installed;
  const none = { name, installSeconds: seconds, testSeconds: 0, peakMebibytes: 0, passed: 0 };
  if (fault !== null) return { ...none, failed: 1 };
  process.stdout.write(`== ${name}: tests\n`);
  return { ...none, ...(await testSystem(name)) };
}

/** Calls every function of `<system>/install.ts` whose name begins with `install`; a system need not have the file. */
async function installSystem(name: string): Promise<void> {
  const file = resolve(ROOT, name, "install.ts");
  if (!existsSync(file)) return;
  const module: Readonly<Record<string, unknown>> = await import(file);
  for (const [key, value] of Object.entries(module))
    if (key.startsWith("install") && typeof value === "function") await value();
}

async function testSystem(name: string): Promise<Omit<SystemReport, "name" | "installSeconds">> {
  const folder = mkdtempSync(join(tmpdir(), "fleetd-peers-"));
  const file = join(folder, "report.json");
  const reporters = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${file}`];
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", `${ROOT}/vitest.config.ts`];
  const begunMs = Date.now();
  // With its slash the filter names the folder: `netbox/`, never `netbox-setup`.
  const command = [process.execPath, ...vitest, `${ROOT}/${name}/`, ...reporters];
  const child = spawn("setpriv", ["--pdeathsig", "TERM", "--", ...command], { stdio: "inherit" });
  // Told to end, we end: no further system is begun.
  const forward = (signal: NodeJS.Signals) => {
    child.once("close", () => {
      rmSync(folder, { recursive: true, force: true });
      process.exit(1);
    });
    child.kill(signal);
  };
  process.on("SIGINT", forward).on("SIGTERM", forward);
  let peak = 0;
  const sampler = setInterval(() => {
    peak = Math.max(
      peak,
      memoryBelow(child.pid ?? -1, (command) => command.includes("/vitest/")),
    );
  }, SAMPLE_MS);
  const limit = setTimeout(() => {
    process.stderr.write(`== ${name}: not done in ${LIMIT_MS / 60_000} minutes\n`);
    child.kill("SIGKILL");
  }, LIMIT_MS);
  const code = await new Promise<number | null>((ended) => child.once("close", ended));
  clearTimeout(limit);
  clearInterval(sampler);
  process.off("SIGINT", forward).off("SIGTERM", forward);
  const { passed, failed } = counts(file);
  rmSync(folder, { recursive: true, force: true });
  return {
    testSeconds: secondsSince(begunMs),
    peakMebibytes: Math.round(peak / MIB),
    passed,
    // A file that fails to start has no failed test, and a folder whose tests all vanished passed none.
    failed: Math.max(failed, code !== 0 || passed === 0 ? 1 : 0),
  };
}

function counts(file: string): { passed: number; failed: number } {
  if (!existsSync(file)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(file, "utf8")) as Record<string, number>;
  return { passed: numPassedTests ?? 0, failed: numFailedTests ?? 0 };
}

function secondsSince(ms: number): number {
  return Math.round((Date.now() - ms) / 1000);
}
