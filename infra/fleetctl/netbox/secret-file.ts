import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

/** A secret's file that cannot be read or made: told in words, with what to do. */
export class SecretFileError extends Error {
  override readonly name = "SecretFileError";
}

const REASONS: Readonly<Record<string, string>> = {
  EISDIR: "it is a folder",
  ENOTDIR: "what should be its folder is a file",
  EACCES: "this user may not",
  EPERM: "this user may not",
  EROFS: "its file system is read-only",
  EEXIST: "there is a file of that name",
  ENOSPC: "its disk is full",
};

function faultOf(error: unknown, path: string, what: string): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === undefined) return error;
  return new SecretFileError(`${path} cannot be ${what}: ${REASONS[code] ?? code}`);
}

/** The trimmed contents of a secret's file; null where there is none. @throws SecretFileError where it cannot be read */
export function readSecret(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw faultOf(error, path, "read");
  }
}

/** The mode of a secret's file that others than its owner may read or write, as 644; else null. */
export function looseMode(path: string): string | null {
  const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  return (mode & 0o077) === 0 ? null : mode.toString(8);
}

/** A new file for a secret, mode 0600, opened before the secret exists: one that cannot be kept must not be made. */
export interface NewSecret {
  /** Writes it and gives the file its name. @throws SecretFileError where a file of that name came up meanwhile */
  keep(secret: string): void;
  /** Takes the empty file away. */
  drop(): void;
}

/** @throws SecretFileError where the folder cannot be made or written to */
export function newSecret(path: string): NewSecret {
  const unnamed = `${path}.${process.pid}.new`;
  const file = opened(path, unnamed);
  const drop = () => rmSync(unnamed, { force: true });
  return {
    drop,
    keep(secret) {
      try {
        writeSync(file, `${secret}\n`);
        fsyncSync(file);
        // A link, unlike a rename, replaces nothing.
        linkSync(unnamed, path);
      } catch (error) {
        throw faultOf(error, path, "written");
      } finally {
        closeSync(file);
        drop();
      }
    },
  };
}

function opened(path: string, unnamed: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw faultOf(error, path, "made");
    throw new SecretFileError(`${path} cannot be made: ${REASONS.ENOTDIR}`);
  }
  try {
    return openSync(unnamed, "wx", 0o600);
  } catch (error) {
    throw faultOf(error, path, "made");
  }
}
