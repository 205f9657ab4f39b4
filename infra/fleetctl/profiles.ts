import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { BadFile, NO_CERTIFICATE, OPERATOR_PEM, readProfiles } from "../../shared/adapters/policy/profile-files.ts";
import { type BootPolicyProfile, loadProfile } from "../../shared/attest/profile.ts";
import { type Arguments, type Io, type Option, UsageError } from "./_command.ts";

const SHIPPED = join(import.meta.dirname, "../profiles");

export const PROFILE_OPTIONS: Readonly<Record<string, Option>> = {
  profiles: {
    type: "string",
    placeholder: "DIR",
    help: "folder of profiles (else FLEET_PROFILES, else those shipped)",
  },
  operator: {
    type: "string",
    placeholder: "FILE",
    help: `your own signing certificates, for ${OPERATOR_PEM} in that folder`,
  },
};

/** The profiles of the folder that was named; whoever has no operator.pem there accepts none of an operator's own. */
export async function profilesFor(args: Arguments, io: Io): Promise<ReadonlyMap<string, BootPolicyProfile>> {
  const folder = args.value("profiles") ?? io.env.FLEET_PROFILES ?? SHIPPED;
  const operator = args.value("operator");
  const named = operator === undefined ? {} : { [OPERATOR_PEM]: await readOperator(operator) };
  const loaded = new Map<string, BootPolicyProfile>();
  for (const [name, json] of Object.entries(await read(folder, named))) {
    const result = loadProfile(json, name);
    if (!result.ok) throw new UsageError(`${join(folder, name)}.json: ${result.problem}`);
    loaded.set(name, result.profile);
  }
  return loaded;
}

async function read(folder: string, named: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  try {
    return await readProfiles(folder, { pems: named, operatorMayLack: true });
  } catch (error) {
    if (!(error instanceof BadFile)) throw error;
    throw new UsageError(error.message);
  }
}

async function readOperator(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    throw new UsageError(`--operator ${path}: cannot be read`);
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----"))
    throw new UsageError(`--operator ${path}: holds no certificate in PEM`);
  return text;
}

/** Whether a profile accepts certificates of an operator's own that are not at hand. */
export function lacksOperator(profile: BootPolicyProfile): boolean {
  return profile.authorities.some((one) => one.sha256 === NO_CERTIFICATE.sha256);
}
