import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { cached } from "./cache.ts";
import { run } from "./process.ts";

const OLDEST_MINOR = 12;
const NEWEST_MINOR = 14;
const UV_LOCK = "test/peers/_common/uv.txt";

/** A Python from 3.12 on, from PATH or pyenv. @throws Error that says how it is had */
export function findPython(): string {
  const pyenv = join(homedir(), ".pyenv", "versions");
  const folders = [...(process.env.PATH ?? "").split(":"), ...namesIn(pyenv).map((name) => join(pyenv, name, "bin"))];
  for (let minor = OLDEST_MINOR; minor <= NEWEST_MINOR; minor++) {
    const found = folders.map((folder) => join(folder, `python3.${minor}`)).find(works);
    if (found !== undefined) return found;
  }
  throw new Error(
    `Python 3.${OLDEST_MINOR} or later is missing: install python3.${OLDEST_MINOR} with its venv module (apt on Debian 13, pyenv before)`,
  );
}

/** Tried, not only looked for: pyenv leaves a stand-in on PATH for each version that it knows, selected or not. */
function works(python: string): boolean {
  try {
    execFileSync(python, ["-c", "import venv, ensurepip"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** uv of our own lock file: it installs in seconds what takes pip minutes. */
async function installUv(python: string): Promise<string> {
  const folder = await cached(
    { name: "uv", words: [python], files: [UV_LOCK] },
    async (at) => {
      await run(python, ["-m", "venv", join(at, "pip")]);
      const pip = join(at, "pip", "bin", "python");
      const target = ["--target", join(at, "uv"), "--require-hashes", "-r", UV_LOCK];
      await run(pip, ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", ...target]);
    },
    "uv/bin/uv",
  );
  return join(folder, "uv", "bin", "uv");
}

/**
 * A virtual environment with what the lock file names, hashes checked, wheels only; gives the folder of its programs.
 * It is made anew for another Python, or for one that was updated in its place.
 * @throws Error where no Python from 3.12 on is there, or a package is not what the lock says
 */
export async function installPythonPackages(name: string, lockFile: string): Promise<string> {
  const python = findPython();
  const version = await run(python, ["--version"]);
  const folder = await cached(
    { name, words: [python, version], files: [lockFile] },
    async (at) => {
      const uv = await installUv(python);
      const venv = join(at, "venv");
      // Its scripts are moved with it.
      await run(uv, ["venv", "-q", "--relocatable", "--python", python, venv]);
      const into = ["--python", join(venv, "bin", "python"), "--link-mode", "copy"];
      const strict = ["--require-hashes", "--no-deps", "--only-binary", ":all:"];
      await run(uv, ["pip", "install", "-q", "--no-cache", ...into, ...strict, "--compile-bytecode", "-r", lockFile]);
    },
    "venv/bin/python",
  );
  return join(folder, "venv", "bin");
}
