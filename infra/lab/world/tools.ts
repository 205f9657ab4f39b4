import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** The first of the programs that is on PATH, or null. */
export function findProgram(...names: string[]): string | null {
  for (const name of names)
    for (const folder of (process.env.PATH ?? "").split(":")) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // not in this folder
      }
    }
  return null;
}

export interface Found {
  /** redis-server or valkey-server, or null: then the in-process store. */
  readonly redis: string | null;
  /** True where swtpm and all that the real tink-attest needs are here: else the software TPM. */
  readonly swtpm: boolean;
}

/** What of the real peers is installed here. FLEETD_LAB_WITHOUT (redis, swtpm) leaves some out, for tests of the other way. */
export function findTools(): Found {
  const without = (process.env.FLEETD_LAB_WITHOUT ?? "").split(",");
  const tpmTools = ["swtpm", "swtpm_setup", "tpm2_quote", "tpm2_createek", "jq", "curl"];
  return {
    redis: without.includes("redis") ? null : findProgram("redis-server", "valkey-server"),
    swtpm: !without.includes("swtpm") && tpmTools.every((tool) => findProgram(tool) !== null),
  };
}
