import { randomBytes } from "node:crypto";
import type { Owner } from "../../contracts/netbox-owner.ts";

/** What an account may do with which objects, in NetBox's own words. */
export interface Grant {
  readonly name: string;
  readonly actions: readonly string[];
  readonly object_types: readonly string[];
  readonly constraints?: unknown;
}

/** Makes an account with these rights and a token of its own; returns the token. */
export async function addAccount(
  owner: Owner,
  username: string,
  grants: readonly Grant[],
  options: { readonly writes?: boolean } = {},
): Promise<string> {
  const password = randomBytes(24).toString("base64url");
  const { id } = await owner.must("POST", "/api/users/users/", { username, password });
  for (const grant of grants)
    await owner.must("POST", "/api/users/permissions/", { ...grant, enabled: true, users: [id] });
  const made = await owner.must("POST", "/api/users/tokens/", {
    user: id,
    version: 2,
    write_enabled: options.writes ?? true,
  });
  return `nbt_${made.key}.${made.token}`;
}

const READ = [
  "dcim.device",
  "dcim.interface",
  "dcim.macaddress",
  "dcim.cable",
  "ipam.ipaddress",
  "ipam.prefix",
  "extras.journalentry",
  "core.objectchange",
];

export const reading: Grant = { name: "read", actions: ["view"], object_types: READ };

/** All that fleetd does in NetBox: writes only on devices of its role, so that a switch is out of its reach. */
export function fleetdGrants(role: string): Grant[] {
  return [
    { ...reading, name: "fleetd-read" },
    { name: "fleetd-device", actions: ["change"], object_types: ["dcim.device"], constraints: { role__slug: role } },
    {
      name: "fleetd-interface",
      actions: ["change"],
      object_types: ["dcim.interface"],
      constraints: { device__role__slug: role },
    },
    { name: "fleetd-mac", actions: ["add", "change"], object_types: ["dcim.macaddress"] },
    { name: "fleetd-journal", actions: ["add"], object_types: ["extras.journalentry"] },
  ];
}
