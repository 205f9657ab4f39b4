import { randomBytes } from "node:crypto";
import type { Owner } from "./netbox-owner.ts";

/** What an account may do with which objects, in NetBox's own words. */
export interface Grant {
  readonly name: string;
  readonly actions: readonly string[];
  readonly types: readonly string[];
  /** Django lookups; without them all objects of the types. */
  readonly constraints?: Readonly<Record<string, unknown>> | null;
}

/** Makes an account with these rights and a token of its own; returns the token. */
export async function addAccount(
  owner: Owner,
  username: string,
  grants: readonly Grant[],
  options: { readonly writes?: boolean } = {},
): Promise<string> {
  // NetBox wants a numeral and letters of both kinds, which one random text in a hundred lacks.
  const password = `Aa1-${randomBytes(24).toString("base64url")}`;
  const { id } = await owner.must("POST", "/api/users/users/", { username, password });
  for (const { types, constraints = null, ...grant } of grants)
    await owner.must("POST", "/api/users/permissions/", {
      ...grant,
      name: `${username} ${grant.name}`,
      object_types: types,
      constraints,
      enabled: true,
      users: [id],
    });
  const token = { user: id, version: 2, write_enabled: options.writes ?? true };
  const made = await owner.must("POST", "/api/users/tokens/", token);
  return `nbt_${made.key}.${made.token}`;
}
