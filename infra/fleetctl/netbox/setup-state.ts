import { z } from "zod";
import type { NetBoxClient, Query } from "../../../shared/adapters/netbox/client.ts";
import { read, selection } from "../../../shared/adapters/netbox/schema.ts";

const id = z.int();
const named = z.object({ id, name: z.string() });
const texts = z.array(z.string());
const reference = z.object({ id }).nullable();

const roleRow = z.object({ id, slug: z.string() });
const setRow = named.extend({ extra_choices: z.array(z.tuple([z.string(), z.string()])).nullable() });
const fieldRow = named.extend({
  object_types: texts,
  type: selection,
  required: z.boolean(),
  unique: z.boolean().optional(),
  default: z.unknown(),
  choice_set: reference,
});
const userRow = z.object({ id, username: z.string(), is_active: z.boolean(), groups: z.array(named).default([]) });
const permissionRow = named.extend({
  enabled: z.boolean(),
  object_types: texts,
  actions: texts,
  constraints: z.unknown(),
  users: z.array(z.object({ id, username: z.string().optional() })),
  groups: z.array(named).default([]),
});
const tokenRow = z.object({
  id,
  key: z.string().nullish(),
  write_enabled: z.boolean(),
  enabled: z.boolean().optional(),
});
const webhookRow = named.extend({
  payload_url: z.string(),
  http_method: z.string(),
  http_content_type: z.string(),
  additional_headers: z.string().optional(),
  body_template: z.string().optional(),
  secret: z.string(),
  ssl_verification: z.boolean(),
  ca_file_path: z.string().nullish(),
});
const ruleRow = named.extend({
  object_types: texts,
  event_types: texts,
  enabled: z.boolean(),
  conditions: z.unknown(),
  action_type: selection,
  action_object_type: z.string().nullish(),
  action_object_id: z.int().nullish(),
});
const account = z.object({ username: z.string() });

export type FieldRow = z.output<typeof fieldRow>;
export type SetRow = z.output<typeof setRow>;

/** All that a set-up looks at, as NetBox has it. */
export interface SetupState {
  /** Who asks. */
  readonly me: string;
  readonly roles: readonly z.output<typeof roleRow>[];
  readonly sets: readonly SetRow[];
  readonly fields: readonly FieldRow[];
  readonly users: readonly z.output<typeof userRow>[];
  readonly permissions: readonly z.output<typeof permissionRow>[];
  readonly tokens: readonly z.output<typeof tokenRow>[];
  readonly webhooks: readonly z.output<typeof webhookRow>[];
  readonly rules: readonly z.output<typeof ruleRow>[];
}

/** Reads it. @throws PortError; `rejected` where the token may not see one of them */
export async function readSetupState(client: NetBoxClient, user: string): Promise<SetupState> {
  const list = <T extends z.ZodType>(path: string, row: T, query: Query = []) =>
    client.rows(path, query, (body) => read(row, body, path));
  const me = await whoIs(client);
  const users = (await list("/api/users/users/", userRow, [["username", user]])).filter((u) => u.username === user);
  return {
    me,
    users,
    roles: await list("/api/dcim/device-roles/", roleRow),
    sets: await list("/api/extras/custom-field-choice-sets/", setRow),
    fields: await list("/api/extras/custom-fields/", fieldRow),
    permissions: await list("/api/users/permissions/", permissionRow),
    tokens: users.length === 0 ? [] : await list("/api/users/tokens/", tokenRow, [["user", user]]),
    webhooks: await list("/api/extras/webhooks/", webhookRow),
    rules: await list("/api/extras/event-rules/", ruleRow),
  };
}

/** The account of a client's token. */
export async function whoIs(client: NetBoxClient): Promise<string> {
  return read(account, await client.get("/api/authentication-check/"), "authentication-check").username;
}
