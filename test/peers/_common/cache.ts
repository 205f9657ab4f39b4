import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { killRunning } from "./process.ts";

/** What an installed peer is made of: its name, and all that decides its bytes. */
export interface Recipe {
  readonly name: string;
  /** Version texts, options, …: anything that is no file. */
  readonly words?: readonly string[];
  /** Lock files, sources: their contents count, not their names. */
  readonly files?: readonly string[];
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const UNFINISHED = /\.new-\w{6}$/;
/** No installation takes so long. */
const STALE_MS = 24 * 3600 * 1000;

/** Where installed peers are kept between runs. */
export function cacheRoot(): string {
  const named = process.env.FLEETD_PEERS_CACHE ?? "";
  // Whole: builders run in folders of their own.
  return named === "" ? join(homedir(), ".cache", "fleetd-peers") : resolve(named);
}

/** `<cache>/<name>-<hash>`; it need not be there yet. */
export function cacheFolder(recipe: Recipe): string {
  const hash = createHash("sha256");
  for (const word of recipe.words ?? []) hash.update(`${word}\n`);
  for (const file of recipe.files ?? []) hash.update(createHash("sha256").update(readFileSync(file)).digest());
  return join(cacheRoot(), `${recipe.name}-${hash.digest("hex").slice(0, 16)}`);
}

/**
 * The peer's folder, made by `make` in a temporary one beside it where it is not there yet: a folder of that name is
 * always whole, also where two make it at once or one is killed. SIGINT and SIGTERM end the process with 1, and nothing
 * half-made or running is left.
 * @param product what is in a whole one, relative to it; without it anything
 * @throws Error where the cache cannot be written to, or `make` made nothing of the kind
 */
export async function cached(recipe: Recipe, make: (folder: string) => Promise<void>, product = "."): Promise<string> {
  const folder = cacheFolder(recipe);
  if (isWhole(folder, product)) return folder;
  const unfinished = unfinishedBeside(folder);
  const clear = () => rmSync(unfinished, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  const stop = () => {
    killRunning();
    clear();
    process.exit(1);
  };
  for (const signal of SIGNALS) process.once(signal, stop);
  try {
    await make(unfinished);
    if (!isWhole(unfinished, product)) throw new Error(`${recipe.name}: its installation made no ${product}`);
    // One that an earlier version took for whole is in the way.
    if (!isWhole(folder, product)) rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } catch (error) {
    clear();
    // Another made the same in the meantime: theirs is as good.
    if (!isWhole(folder, product)) throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
  return folder;
}

function isWhole(folder: string, product: string): boolean {
  return existsSync(join(folder, product)) && readdirSync(folder).length > 0;
}

/** A new folder; those that a killed process left behind are removed. */
function unfinishedBeside(folder: string): string {
  const root = cacheRoot();
  try {
    mkdirSync(root, { recursive: true });
    for (const name of readdirSync(root).filter((one) => UNFINISHED.test(one))) {
      const left = statSync(join(root, name), { throwIfNoEntry: false });
      if (left !== undefined && Date.now() - left.mtimeMs > STALE_MS)
        rmSync(join(root, name), { recursive: true, force: true });
    }
    return mkdtempSync(`${folder}.new-`);
  } catch (error) {
    const why = error instanceof Error ? error.message : "?";
    throw new Error(`the peers' cache ${root} cannot be written to (FLEETD_PEERS_CACHE names another): ${why}`);
  }
}
