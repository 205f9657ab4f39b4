import { readFileSync } from "node:fs";
import type { z } from "zod";
import { DEFAULT_DURATIONS, type Durations } from "../fleet/limits.ts";
import { settingsSchema } from "./settings-table.ts";
import { type SignerSettings, signerFaults, signerSettings } from "./signer-settings.ts";

export type Settings = z.output<typeof settingsSchema> & {
  readonly durations: Durations;
  readonly sessionKeys: readonly Uint8Array[];
  readonly signer: SignerSettings;
};

/** FLEET_<NAME>_MS of a duration: `tokenAfterApprovalMs` is FLEET_TOKEN_AFTER_APPROVAL_MS. */
export function durationVariable(name: string): string {
  return `FLEET_${name.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase()}`;
}

function readDurations(env: Readonly<Record<string, string | undefined>>, errors: string[]): Durations {
  const durations: Record<string, number> = { ...DEFAULT_DURATIONS };
  for (const name of Object.keys(DEFAULT_DURATIONS)) {
    const text = env[durationVariable(name)];
    if (text === undefined) continue;
    if (/^\d{1,15}$/.test(text)) durations[name] = Number(text);
    else errors.push(`${durationVariable(name)}: is not a number of milliseconds`);
  }
  return durations as Durations;
}

/** One key, or two for a rotation, one a line; hex or base64 or text of at least 32 bytes. */
function readSessionKeys(path: string | undefined, withRedis: boolean, errors: string[]): Uint8Array[] {
  if (path === undefined) {
    if (withRedis) errors.push("FLEET_SESSION_KEY_FILE: is required with Redis: replicas share sessions by it");
    return [new Uint8Array(crypto.getRandomValues(new Uint8Array(32)))];
  }
  try {
    const keys = readFileSync(path, "utf8")
      .split(/\s+/)
      .filter((line) => line !== "")
      .map((line) => new TextEncoder().encode(line));
    if (keys.length >= 1 && keys.length <= 2 && keys.every((k) => k.length >= 32)) return keys;
    errors.push("FLEET_SESSION_KEY_FILE: holds one or two keys of at least 32 bytes, one a line");
  } catch {
    errors.push("FLEET_SESSION_KEY_FILE: cannot be read");
  }
  return [];
}

/**
 * Reads and checks all settings at once.
 * @throws Error that lists every fault, without a secret
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const errors: string[] = [];
  const parsed = settingsSchema.safeParse(env);
  if (!parsed.success)
    for (const i of parsed.error.issues) {
      const name = i.path.join(".");
      errors.push(`${name}: ${env[name] === undefined ? "is missing" : i.message}`);
    }
  const durations = readDurations(env, errors);
  const sessionKeys = readSessionKeys(env.FLEET_SESSION_KEY_FILE, env.FLEET_REDIS_URL !== undefined, errors);
  errors.push(...signerFaults(env));
  const known = new Set([
    ...Object.keys(settingsSchema.shape),
    ...Object.keys(DEFAULT_DURATIONS).map(durationVariable),
  ]);
  for (const name of Object.keys(env))
    if (name.startsWith("FLEET_") && !known.has(name)) errors.push(`${name}: is no setting`);
  if (env.FLEET_ADMIN_CA === undefined && env.FLEET_ADMIN_TOKEN_FILE === undefined)
    errors.push("FLEET_ADMIN_CA or FLEET_ADMIN_TOKEN_FILE: one is needed, or nobody can call the admin listener");
  for (const side of ["DEVICE", "ADMIN"])
    if ((env[`FLEET_${side}_TLS_CERT`] === undefined) !== (env[`FLEET_${side}_TLS_KEY`] === undefined))
      errors.push(`FLEET_${side}_TLS_CERT and FLEET_${side}_TLS_KEY: both or none`);
  if (env.FLEET_ADMIN_CA !== undefined && env.FLEET_ADMIN_TLS_CERT === undefined)
    errors.push("FLEET_ADMIN_CA: needs FLEET_ADMIN_TLS_CERT and FLEET_ADMIN_TLS_KEY");
  if (!parsed.success || errors.length > 0) throw new Error(`settings:\n  ${errors.join("\n  ")}`);
  return { ...parsed.data, durations, sessionKeys, signer: signerSettings(parsed.data) };
}
