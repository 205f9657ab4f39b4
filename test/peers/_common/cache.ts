import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** What an installed peer is made of: its name, and all that decides its bytes. */
export interface Recipe {
  readonly name: string;
  /** Version texts, options, …: anything that is no file. */
  readonly words?: readonly string[];
  /** Lock files, sources: their contents count, not their names. */
  readonly files?: readonly string[];
}

/** Where installed peers are kept between runs. */
export function cacheRoot(): string {
  const named = process.env.FLEETD_PEERS_CACHE ?? "";
  return named === "" ? join(homedir(), ".cache", "fleetd-peers") : named;
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
 * always whole, also where two make it at once or one is killed.
 */
export async function cached(recipe: Recipe, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = cacheFolder(recipe);
  if (existsSync(folder)) return folder;
  mkdirSync(cacheRoot(), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.new-`);
  try {
    await make(unfinished);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another made the same in the meantime: theirs is as good.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
