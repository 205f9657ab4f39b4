import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** The trimmed contents of a secret's file; null where there is none. @throws where it cannot be read */
export function readSecret(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** A new file for a secret, mode 0600, opened before the secret exists: one that cannot be kept must not be made. */
export interface NewSecret {
  /** Writes it and gives the file its name. @throws where a file of that name came up meanwhile */
  keep(secret: string): void;
  /** Takes the empty file away. */
  drop(): void;
}

/** @throws where the folder cannot be made or written to */
export function newSecret(path: string): NewSecret {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unnamed = `${path}.${process.pid}.new`;
  const file = openSync(unnamed, "wx", 0o600);
  const drop = () => rmSync(unnamed, { force: true });
  return {
    drop,
    keep(secret) {
      try {
        writeSync(file, `${secret}\n`);
        fsyncSync(file);
        // A link, unlike a rename, replaces nothing.
        linkSync(unnamed, path);
      } finally {
        closeSync(file);
        drop();
      }
    },
  };
}
