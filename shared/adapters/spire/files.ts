import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PortError } from "../../ports/error.ts";
import type { FilesPort } from "../../ports/system.ts";

export interface FilesOptions {
  /** Where SPIRE's registrar reads the list of nodes; null writes none. */
  readonly spireNodesFile: string | null;
  /** Where evidence bundles go, one file each; null keeps none. */
  readonly evidenceFolder: string | null;
}

const SPIRE_NODES_MODE = 0o644;
const EVIDENCE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const DEVICE_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Files by write, fsync and rename: a reader sees the old one or the new one. @throws PortError unavailable */
export function createFiles(options: FilesOptions): FilesPort {
  return {
    async writeSpireNodes(json) {
      const path = options.spireNodesFile;
      if (path === null || (await readFile(path, "utf8").catch(() => null)) === json) return;
      await replace(path, json, SPIRE_NODES_MODE);
    },
    async readSpireNodes() {
      const path = options.spireNodesFile;
      return path === null ? '{"nodes":[]}' : readFile(path, "utf8").catch(() => null);
    },
    async writeEvidence(deviceName, atMs, json) {
      if (options.evidenceFolder === null) return;
      // The name becomes a path: one that is no label could leave the folder.
      if (!DEVICE_NAME.test(deviceName)) throw new PortError("rejected", "files", "a device name that is no DNS label");
      const at = new Date(atMs).toISOString().replaceAll(":", "-");
      await replace(join(options.evidenceFolder, `${deviceName}-${at}.json`), json, EVIDENCE_MODE);
    },
  };
}

async function replace(path: string, text: string, mode: number): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    await write(temporary, text, mode);
    await rename(temporary, path);
    await syncFolder(folder);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
    throw new PortError("unavailable", "files", `${path}: ${code}`);
  }
}

async function write(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
