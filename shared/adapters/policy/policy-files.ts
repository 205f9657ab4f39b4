import { stat } from "node:fs/promises";
import { join } from "node:path";
import { parse as parseYaml } from "yaml";
import { PortError } from "../../ports/error.ts";
import type { PolicyPort, PolicyTexts } from "../../ports/policy.ts";
import { certificateFiles, readCertificates } from "./certificate-files.ts";
import { BadFile, listFiles, readJson, readProfiles, readText } from "./profile-files.ts";

/** Paths of the files that git owns; null for those that are not used. */
export interface PolicyPaths {
  readonly classes: string;
  readonly classInputs: string | null;
  readonly ekPins: string | null;
  /** A file of certificates, or a folder of such files. */
  readonly ekRoots?: string | null;
  /** Folder of `<name>.json` and the PEM files that they name. */
  readonly profiles: string;
  readonly talosSecrets: string | null;
}

/** Says what is wrong with a set whose files could be parsed, or null; the last set that passed stays in use. */
export type PolicyCheck = (texts: PolicyTexts) => string | null;

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
    let unread = false;
    try {
      const texts = await readAll(paths);
      problem = check(texts);
      if (problem === null) good = texts;
    } catch (error) {
      // Whatever it is, the last good set stays; only a BadFile's words are known to hold nothing of the files.
      problem = error instanceof BadFile ? error.message : `the policy files cannot be used: ${nameOf(error)}`;
      unread = !(error instanceof BadFile) || error.unread;
    }
    // Written while it was read, or not readable just now: look again at the next call.
    seen = !unread && before === (await fingerprint(paths)) ? before : null;
  }

  let loading: Promise<void> = Promise.resolve();
  return {
    async current() {
      loading = loading.then(load).catch((error: unknown) => {
        problem = `the policy files cannot be looked at: ${nameOf(error)}`;
      });
      await loading;
      if (good === null) throw new PortError("rejected", "policy", problem ?? "nothing was read");
      return problem === null ? good : { ...good, problem };
    },
  };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

async function readAll(paths: PolicyPaths): Promise<PolicyTexts> {
  const optional = (path: string | null) => (path === null ? null : readJson(path));
  return {
    classes: await readJson(paths.classes),
    classInputs: await optional(paths.classInputs),
    ekPins: await optional(paths.ekPins),
    ...(paths.ekRoots ? { ekRoots: await readCertificates(paths.ekRoots) } : {}),
    profiles: await readProfiles(paths.profiles),
    talosSecrets: paths.talosSecrets === null ? null : await readYaml(paths.talosSecrets),
  };
}

async function readYaml(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return parseYaml(text);
  } catch {
    throw new BadFile(`${path}: no YAML`);
  }
}

/** Changes whenever a file is written, renamed over, added, removed or made readable; symbolic links are followed. */
async function fingerprint(paths: PolicyPaths): Promise<string> {
  const single = [paths.classes, paths.classInputs, paths.ekPins, paths.talosSecrets];
  const inFolder = await listFiles(paths.profiles).catch(() => []);
  const roots = paths.ekRoots ? await certificateFiles(paths.ekRoots).catch(() => []) : [];
  const profiles = inFolder.map((name) => join(paths.profiles, name));
  const files = [...single.filter((path) => path !== null), ...profiles, ...roots];
  const marks = files.map(async (path) => {
    const found = await stat(path, { bigint: true }).catch(() => null);
    return found === null ? `${path} none` : `${path} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
  });
  return (await Promise.all(marks)).join("\n");
}
