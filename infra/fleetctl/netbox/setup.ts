import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { createClient, type NetBoxClient } from "../../../shared/adapters/netbox/client.ts";
import { createNetBox } from "../../../shared/adapters/netbox/netbox.ts";
import { read } from "../../../shared/adapters/netbox/schema.ts";
import { isPortError } from "../../../shared/ports/error.ts";
import type { OwnerNetBox } from "../owner-netbox.ts";
import { planAccount, type TokenFile } from "./plan-account.ts";
import { planFields } from "./plan-fields.ts";
import { planWebhook } from "./plan-webhook.ts";
import { looseMode, type NewSecret, newSecret, readSecret } from "./secret-file.ts";
import { readSetupState, whoIs } from "./setup-state.ts";
import { PATHS, type SetupPlan, SetupPlanner, type SetupStep } from "./setup-step.ts";

export interface SetupOptions {
  readonly role: string;
  readonly user: string;
  readonly webhookUrl: string;
  readonly webhookCaFile: string | null;
  /** Folder of the two secrets. */
  readonly secrets: string;
}

const TOKEN_FILE = "netbox-token";
const WEBHOOK_FILE = "webhook-secret";
const SHORTEST_SECRET_BYTES = 16;

/** The two files of a set-up. */
export function secretPaths(folder: string): { readonly token: string; readonly webhook: string } {
  return { token: join(folder, TOKEN_FILE), webhook: join(folder, WEBHOOK_FILE) };
}

export interface PlannedSetup extends SetupPlan {
  readonly version: string;
  /** Secrets that are not in a file yet, by path; none of them is shown. */
  readonly newSecrets: ReadonlyMap<string, string>;
}

/** Compares NetBox with what fleetd needs. @throws PortError where it cannot be read */
export async function planSetup(netbox: OwnerNetBox, options: SetupOptions): Promise<PlannedSetup> {
  const { role, user, webhookUrl, webhookCaFile } = options;
  const version = await createNetBox({ ...netbox, role, timeoutMs: 60_000 }).checkVersion();
  const state = await readSetupState(netbox.client, user);
  const paths = secretPaths(options.secrets);
  const plan = new SetupPlanner();
  if (!state.roles.some((row) => row.slug === role))
    plan.create("device role", role, ["the devices of the fleet"], () => ({ name: role, slug: role, color: "2196f3" }));
  planFields(plan, state);
  planAccount(plan, state, { user, role, tokenFile: await tokenFile(netbox, paths.token), tokenPath: paths.token });
  const kept = readSecret(paths.webhook);
  for (const path of Object.values(paths)) {
    const mode = looseMode(path);
    if (mode !== null) plan.notes.push(`${path} has mode ${mode}: chmod 600 it, others may read it`);
  }
  const secret = kept ?? randomBytes(32).toString("hex");
  if (Buffer.byteLength(secret) < SHORTEST_SECRET_BYTES)
    plan.refused.push(
      `${paths.webhook} holds less than ${SHORTEST_SECRET_BYTES} bytes; without the file a new secret is made`,
    );
  planWebhook(plan, state, {
    name: user,
    url: webhookUrl,
    caFile: webhookCaFile,
    role,
    secret,
    secretPath: paths.webhook,
    newSecretPath: kept === null ? paths.webhook : null,
  });
  return { ...plan, version, newSecrets: new Map(kept === null ? [[paths.webhook, secret]] : []) };
}

async function tokenFile({ url }: OwnerNetBox, path: string): Promise<TokenFile> {
  const token = readSecret(path);
  if (token === null) return { is: "missing" };
  try {
    return { is: "of", token, user: await whoIs(createClient({ url, token, timeoutMs: 60_000 })) };
  } catch (error) {
    if (isPortError(error, "rejected")) return { is: "refused", why: "NetBox does not take the token in it" };
    throw error;
  }
}

const made = z.object({ id: z.int() });
const madeToken = z.object({ id: z.int(), key: z.string().min(1), token: z.string().min(1) });

/**
 * Carries the plan out, step by step, and stops at the first that fails. Files are made before NetBox is written to.
 * @throws PortError, SecretFileError; what is done stays done
 */
export async function applySetup(
  { client }: OwnerNetBox,
  plan: PlannedSetup,
  options: SetupOptions,
  done: (step: SetupStep) => void,
): Promise<void> {
  // Opened first: a token that nobody could keep would stay valid without anybody's knowing it.
  const file = plan.steps.some(({ what }) => what === "token") ? newSecret(secretPaths(options.secrets).token) : null;
  try {
    for (const [path, secret] of plan.newSecrets) newSecret(path).keep(secret);
    const ids = new Map(plan.ids);
    for (const step of plan.steps) {
      await carryOut(client, step, ids, file);
      done(step);
    }
  } finally {
    file?.drop();
  }
}

async function carryOut(
  client: NetBoxClient,
  step: SetupStep,
  ids: Map<string, number>,
  file: NewSecret | null,
): Promise<void> {
  const { what, name, id } = step;
  const path = PATHS[what];
  if (what === "token") {
    const { key, token } = read(madeToken, await client.send("POST", path, step.body(ids)), "token");
    file?.keep(`nbt_${key}.${token}`);
  } else if (id !== null) await client.send("PATCH", `${path}${id}/`, step.body(ids));
  else ids.set(`${what} ${name}`, read(made, await client.send("POST", path, step.body(ids)), what).id);
}
