import { models } from "./models.ts";
import { type Action, allows, covers, type Right, rightsOf } from "./permissions.ts";
import type { Answer } from "./read.ts";
import type { Row, TableName, World } from "./world.ts";

/** A token of the lab's start. Without `scope` its account may do all. */
export interface TokenGrant {
  readonly token: string;
  readonly user: string;
  readonly write: boolean;
  /** `fleetd`: the narrow permissions of fleetd's account on the lab's role. */
  readonly scope?: "fleetd";
}

/** Who asks, and what they may: null is everything. */
export interface Caller {
  readonly user: string;
  readonly write: boolean;
  readonly rights: readonly Right[] | null;
}

const forbidden: Answer = { status: 403, body: { detail: "You do not have permission to perform this action." } };
const actions: Readonly<Record<string, Action>> = { GET: "view", POST: "add", PATCH: "change", DELETE: "delete" };

/** Finds the account of a request, or gives NetBox's 403 (never a 401). */
export function authenticate(
  tokens: readonly TokenGrant[],
  world: World,
  role: string,
  header: string | undefined,
): Caller | Answer {
  if (header === undefined) {
    return { status: 403, body: { detail: "Authentication credentials were not provided." } };
  }
  const words = header.split(" ");
  const text = words[1];
  if (words.length !== 2 || text === undefined || !/^(bearer|token)$/i.test(words[0] ?? "")) {
    const detail = 'Invalid authorization header: Must be in the form "Bearer <key>.<token>" or "Token <token>"';
    return { status: 403, body: { detail } };
  }
  const given = tokens.find((each) => each.token === text);
  if (given !== undefined)
    return { ...given, rights: given.scope === "fleetd" ? [...fleetdRights(role), ownTokens(0)] : null };
  return (
    madeCaller(world, text) ?? {
      status: 403,
      body: { detail: `Invalid ${text.startsWith("nbt_") ? "v2" : "v1"} token` },
    }
  );
}

/** A token that was made over the API: its account may what its permissions say. */
function madeCaller(world: World, text: string): Caller | null {
  const row = [...world.tables.tokens.values()].find(({ key, secret }) => `nbt_${key}.${secret}` === text);
  const user = world.tables.users.get(Number(row?.user));
  if (row?.enabled !== true || user?.is_active !== true) return null;
  const rights = [...rightsOf(world, user.id), ownTokens(user.id)];
  return { user: String(user.username), write: row.write_enabled === true, rights };
}

/** NetBox's own default: an account sees its tokens, and nobody else's. */
function ownTokens(userId: number): Right {
  return { types: ["users.token"], actions: ["view"], constraints: { user: userId } };
}

/** What `fleetctl netbox setup` gives fleetd's account; test/contracts/netbox.lab.test.ts holds it to that. */
export function fleetdRights(role: string): Right[] {
  const right = (types: string, actions: string, constraints: unknown = null): Right => ({
    types: [types],
    actions: actions.split(" "),
    constraints,
  });
  const onRole = { interface__device__role__slug: role };
  const device = (field: string) => ({ [`${field}__app_label`]: "dcim", [`${field}__model`]: "device" });
  return [
    right("dcim.device", "view change", { role__slug: role }),
    right("dcim.interface", "view"),
    right("dcim.interface", "change", { device__role__slug: role }),
    right("dcim.macaddress", "view add", onRole),
    right("ipam.ipaddress", "view", onRole),
    right("dcim.cable", "view", { terminations___device__role__slug: role }),
    right("ipam.prefix", "view"),
    right("extras.journalentry", "view add", device("assigned_object_type")),
    right("core.objectchange", "view", device("changed_object_type")),
    right("extras.customfield", "view"),
  ];
}

/** Whether the account may use the method on the table; null when it may. */
export function permission(caller: Caller, method: string, table: TableName): Answer | null {
  if (method !== "GET" && !caller.write) return forbidden;
  const action = actions[method];
  const may = caller.rights === null || action === undefined || allows(caller.rights, typeOf(table), action);
  return may ? null : forbidden;
}

/** An object outside the account's constraint is the same as one that is not there. */
export function reaches(caller: Caller, world: World, method: string, table: TableName, row: Row): boolean {
  const action = actions[method];
  if (caller.rights === null || action === undefined) return true;
  return covers(caller.rights, world, table, typeOf(table), action, row);
}

function typeOf(table: TableName): string {
  return models[table]?.type ?? "core.objectchange";
}
