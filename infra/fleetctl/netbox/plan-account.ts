import { randomBytes } from "node:crypto";
import type { SetupState } from "./setup-state.ts";
import { changesTo, idOf, type SetupPlanner } from "./setup-step.ts";
import { wantedPermissions } from "./wanted-rights.ts";

/** What is known of the token in the file: whose it is, or why that is not known. */
export type TokenFile =
  | { readonly is: "missing" }
  | { readonly is: "refused"; readonly why: string }
  | { readonly is: "of"; readonly user: string; readonly token: string };

export interface Account {
  readonly user: string;
  readonly role: string;
  readonly tokenFile: TokenFile;
  readonly tokenPath: string;
}

/** fleetd's user, its permissions and its token. */
export function planAccount(plan: SetupPlanner, state: SetupState, account: Account): void {
  const { user, role } = account;
  const [row] = state.users;
  if (state.me === user) plan.refused.push(`the token at hand is ${user}'s own: set-up takes an administrator's`);
  if (row === undefined) {
    const details = ["with a password that nobody knows: it calls by its token alone"];
    plan.create("user", user, details, () => ({ username: user, password: password(), is_active: true }));
  } else {
    plan.ids.set(`user ${user}`, row.id);
    if (!row.is_active) plan.refused.push(`user ${user} is switched off: whoever did that decides`);
    for (const { name } of row.groups) plan.notes.push(`user ${user} is in group ${name}: its rights come on top`);
  }
  planPermissions(plan, state, user, role);
  planToken(plan, state, account);
}

function planPermissions(plan: SetupPlanner, state: SetupState, user: string, role: string): void {
  const wanted = wantedPermissions(user, role);
  const userId = state.users[0]?.id;
  const mine = new Set<number>();
  for (const { name, types, actions, constraints, why } of wanted) {
    const alike = state.permissions.filter((one) => one.name === name);
    const row = alike.find((one) => one.users.some(({ id }) => id === userId)) ?? alike[0];
    const fixed = { enabled: true, object_types: types, actions, constraints };
    const where = constraints === null ? "" : ` where ${JSON.stringify(constraints)}`;
    if (row === undefined) {
      plan.create("permission", name, [`${actions.join(", ")} ${types.join(", ")}${where}`, why], (ids) => ({
        name,
        description: why,
        ...fixed,
        users: [idOf(ids, "user", user)],
      }));
      continue;
    }
    const has = row.users.map((one) => one.id);
    const changes = changesTo(row, fixed);
    if (userId === undefined || !has.includes(userId))
      changes.push({
        key: "users",
        value: (ids: ReadonlyMap<string, number>) => [...has, idOf(ids, "user", user)],
        text: `for ${user}`,
      });
    plan.change("permission", name, row.id, changes);
    mine.add(row.id);
    const others = row.users.filter((one) => one.id !== userId).map((one) => `user ${one.username ?? one.id}`);
    for (const other of [...others, ...row.groups.map((group) => `group ${group.name}`)])
      plan.notes.push(`permission "${name}" is ${other}'s too; it is left so`);
  }
  for (const { id, name, users } of state.permissions)
    if (users.some((one) => one.id === userId) && !mine.has(id))
      plan.notes.push(
        `user ${user} also has permission "${name}" (${id}), which fleetd does not need; it is left as it is`,
      );
}

function planToken(plan: SetupPlanner, state: SetupState, { user, tokenFile, tokenPath }: Account): void {
  if (tokenFile.is === "refused") {
    plan.refused.push(`${tokenPath}: ${tokenFile.why}; without the file a new token is made`);
  } else if (tokenFile.is === "missing") {
    plan.create("token", user, [`into ${tokenPath}, mode 0600`], (ids) => ({
      user: idOf(ids, "user", user),
      version: 2,
      description: "fleetd",
      write_enabled: true,
    }));
    if (state.tokens.length > 0)
      plan.notes.push(
        `user ${user} has other tokens already (${state.tokens.length}): remove in NetBox what nobody uses`,
      );
  } else if (tokenFile.user !== user) {
    plan.refused.push(`${tokenPath} holds a token of ${tokenFile.user}, not of ${user}`);
  } else {
    const key = /^nbt_([^.]+)[.]/.exec(tokenFile.token)?.[1];
    const row = state.tokens.find((one) => one.key === key && key !== undefined);
    if (row?.write_enabled === false)
      plan.refused.push(`${tokenPath} holds a token that may not write: allow it in NetBox, or remove the file`);
  }
}

/** Long enough for any policy, and of all kinds of characters. */
function password(): string {
  return `Aa1!${randomBytes(32).toString("base64url")}`;
}
