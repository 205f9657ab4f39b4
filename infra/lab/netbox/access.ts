import type { Answer } from "./read.ts";
import type { Row, TableName, World } from "./world.ts";

export interface TokenGrant {
  readonly token: string;
  readonly user: string;
  readonly write: boolean;
  /** `fleetd`: the narrow permissions of fleetd's account; without it the account may do all. */
  readonly scope?: "fleetd";
}

const forbidden: Answer = { status: 403, body: { detail: "You do not have permission to perform this action." } };

/** Finds the account of a request, or gives NetBox's 403 (never a 401). */
export function authenticate(
  tokens: readonly TokenGrant[],
  world: World,
  header: string | undefined,
): TokenGrant | Answer {
  if (header === undefined) {
    return { status: 403, body: { detail: "Authentication credentials were not provided." } };
  }
  const words = header.split(" ");
  const text = words[1];
  if (words.length !== 2 || text === undefined || !/^(bearer|token)$/i.test(words[0] ?? "")) {
    const detail = 'Invalid authorization header: Must be in the form "Bearer <key>.<token>" or "Token <token>"';
    return { status: 403, body: { detail } };
  }
  const grant = tokens.find((each) => each.token === text) ?? madeGrant(world, text);
  return grant ?? { status: 403, body: { detail: `Invalid ${text.startsWith("nbt_") ? "v2" : "v1"} token` } };
}

/** A token that was made over the API: its account has fleetd's narrow rights, whatever its permissions say. */
function madeGrant(world: World, text: string): TokenGrant | undefined {
  const row = [...world.tables.tokens.values()].find(({ key, secret }) => `nbt_${key}.${secret}` === text);
  const user = world.tables.users.get(Number(row?.user));
  if (row?.enabled !== true || user?.is_active !== true) return undefined;
  return { token: text, user: String(user.username), write: row.write_enabled === true, scope: "fleetd" };
}

const narrow: Readonly<Partial<Record<TableName, readonly string[]>>> = {
  devices: ["PATCH"],
  interfaces: ["PATCH"],
  "mac-addresses": ["POST", "PATCH"],
  "journal-entries": ["POST"],
};
const hidden: readonly TableName[] = ["webhooks", "event-rules", "users", "permissions", "tokens"];

/** Whether the account may use the method on the table; null when it may. */
export function permission(grant: TokenGrant, method: string, table: TableName): Answer | null {
  if (method === "GET") return grant.scope === "fleetd" && hidden.includes(table) ? forbidden : null;
  if (!grant.write) return forbidden;
  return grant.scope !== "fleetd" || (narrow[table] ?? []).includes(method) ? null : forbidden;
}

/** An object outside the account's constraint is the same as one that is not there. */
export function reaches(grant: TokenGrant, world: World, role: string, table: TableName, row: Row): boolean {
  if (grant.scope !== "fleetd" || table !== "devices") return true;
  return world.tables["device-roles"].get(Number(row.role))?.slug === role;
}
