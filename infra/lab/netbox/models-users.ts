import { randomBytes } from "node:crypto";
import { anything, bool, type Model, relation, text } from "./rules.ts";
import type { TableName } from "./world.ts";

/** NetBox's own accounts. A user's password is taken and never shown. */
export const users: Partial<Record<TableName, Model>> = {
  users: {
    table: "users",
    type: "users.user",
    verbose: "User",
    rules: { username: text(150, true), password: text(128, true), is_active: bool },
    required: ["username", "password"],
    defaults: { is_active: true, groups: [] },
    check(world, row) {
      const twin = [...world.tables.users.values()].find(
        (each) => each.id !== row.id && each.username === row.username,
      );
      return twin === undefined ? null : { username: ["A user with that username already exists."] };
    },
  },
  permissions: {
    table: "permissions",
    type: "users.objectpermission",
    verbose: "ObjectPermission",
    rules: {
      name: text(100, true),
      description: text(200),
      enabled: bool,
      object_types: anything,
      actions: anything,
      constraints: anything,
      users: (world, value) => {
        const ids: unknown[] = Array.isArray(value) ? value : [value];
        const wrong = ids.find((id) => typeof id !== "number");
        if (wrong !== undefined) return { fault: [`Incorrect type. Expected pk value, received ${typeof wrong}.`] };
        const strange = ids.find((id) => !world.tables.users.has(Number(id)));
        return strange === undefined ? { value: ids } : { fault: [`Invalid pk "${strange}" - object does not exist.`] };
      },
    },
    required: ["name", "object_types", "actions"],
    defaults: { description: "", enabled: true, constraints: null, groups: [], users: [] },
  },
  tokens: {
    table: "tokens",
    type: "users.token",
    verbose: "Token",
    rules: {
      user: relation("users", false),
      version: anything,
      description: text(200),
      enabled: bool,
      write_enabled: bool,
    },
    required: ["user"],
    defaults: { version: 2, description: "", enabled: true, write_enabled: true, expires: null, allowed_ips: [] },
    made: () => ({ key: randomBytes(6).toString("hex"), secret: randomBytes(20).toString("hex") }),
  },
};
