import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parse as parseYaml } from "yaml";
import { PortError } from "../../ports/error.ts";
import type { PolicyPort, PolicyTexts } from "../../ports/policy.ts";

/** Paths of the files that git owns; null for those that are not used. */
export interface PolicyPaths {
  readonly classes: string;
  readonly classInputs: string | null;
  readonly ekPins: string | null;
  /** Folder of `<name>.json` and the PEM files that they name. */
  readonly profiles: string;
  readonly talosSecrets: string | null;
}

/** Says what is wrong with a set whose files could be parsed, or null; the last set that passed stays in use. */
export type PolicyCheck = (texts: PolicyTexts) => string | null;

/** A file that cannot be used; its words name the file and never show what is in it (it may hold cluster secrets). */
class BadFile extends Error {}

/**
 * Reads the policy files, again whenever one of them changed, and keeps the last good set.
 * @throws PortError rejected while there never was a good set
 */
export function createPolicy(paths: PolicyPaths, check: PolicyCheck = () => null): PolicyPort {
  let good: PolicyTexts | null = null;
  let problem: string | null = null;
  let seen: string | null = null;

  async function load(): Promise<void> {
    const before = await fingerprint(paths);
    if (before === seen) return;
    try {
      const texts = await readAll(paths);
      problem = check(texts);
      if (problem === null) good = texts;
    } catch (error) {
      if (!(error instanceof BadFile)) throw error;
      problem = error.message;
    }
    // Written while it was read: look again at the next call.
    seen = before === (await fingerprint(paths)) ? before : null;
  }

  let loading: Promise<void> = Promise.resolve();
  return {
    async current() {
      loading = loading.then(load);
      await loading;
      if (good === null) throw new PortError("rejected", "policy", problem ?? "nothing was read");
      return problem === null ? good : { ...good, problem };
    },
  };
}

async function readAll(paths: PolicyPaths): Promise<PolicyTexts> {
  const optional = (path: string | null) => (path === null ? null : readJson(path));
  return {
    classes: await readJson(paths.classes),
    classInputs: await optional(paths.classInputs),
    ekPins: await optional(paths.ekPins),
    profiles: await readProfiles(paths.profiles),
    talosSecrets: paths.talosSecrets === null ? null : await readYaml(paths.talosSecrets),
  };
}

async function readProfiles(folder: string): Promise<Record<string, unknown>> {
  const profiles: Record<string, unknown> = {};
  for (const name of await list(folder)) {
    if (!name.endsWith(".json")) continue;
    profiles[name.slice(0, -".json".length)] = await withPems(await readJson(join(folder, name)), folder);
  }
  return profiles;
}

/** Puts the text of each PEM file that a `pem` key names in its place. */
async function withPems(value: unknown, folder: string): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => withPems(each, folder)));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(async ([key, each]) => {
    const names = key === "pem" && typeof each === "string" && !each.includes("-----BEGIN");
    return [key, names ? await readText(inside(folder, each)) : await withPems(each, folder)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

function inside(folder: string, name: string): string {
  const path = resolve(folder, name);
  if (relative(folder, path).startsWith("..")) throw new BadFile(`${folder}: a profile names a PEM outside of it`);
  return path;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new BadFile(`${path}: ${codeOf(error)}`);
  }
}

async function readJson(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return JSON.parse(text);
  } catch {
    throw new BadFile(`${path}: no JSON`);
  }
}

async function readYaml(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return parseYaml(text);
  } catch {
    throw new BadFile(`${path}: no YAML`);
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith(".")).sort();
  } catch (error) {
    throw new BadFile(`${folder}: ${codeOf(error)}`);
  }
}

/** Changes whenever a file is written, renamed over, added or removed; a ConfigMap's symbolic links are followed. */
async function fingerprint(paths: PolicyPaths): Promise<string> {
  const single = [paths.classes, paths.classInputs, paths.ekPins, paths.talosSecrets];
  const inFolder = await list(paths.profiles).catch(() => []);
  const files = [...single.filter((path) => path !== null), ...inFolder.map((name) => join(paths.profiles, name))];
  const marks = files.map(async (path) => {
    const found = await stat(path, { bigint: true }).catch(() => null);
    return found === null ? `${path} none` : `${path} ${found.ino} ${found.size} ${found.mtimeNs}`;
  });
  return (await Promise.all(marks)).join("\n");
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "cannot be read";
}
