import { WANTED_FIELDS } from "./wanted-fields.ts";

export interface WantedPermission {
  readonly name: string;
  readonly types: readonly string[];
  readonly actions: readonly ("view" | "add" | "change")[];
  /** Django lookups; null: all objects of the types. */
  readonly constraints: Readonly<Record<string, unknown>> | null;
  readonly why: string;
}

const OF_DEVICES = { app_label: "dcim", model: "device" };

function ofType(field: string): Record<string, string> {
  return Object.fromEntries(Object.entries(OF_DEVICES).map(([key, value]) => [`${field}__${key}`, value]));
}

/** The least rights with which fleetd works: each has its reason. Nothing may be deleted, and no device but its role's changed. */
export function wantedPermissions(user: string, role: string): WantedPermission[] {
  const permission = (
    what: string,
    types: WantedPermission["types"],
    actions: WantedPermission["actions"],
    constraints: WantedPermission["constraints"],
    why: string,
  ): WantedPermission => ({ name: `${user}: ${what}`, types, actions, constraints, why });
  const onRole = { interface__device__role__slug: role };
  return [
    permission(
      "devices",
      ["dcim.device"],
      ["view", "change"],
      { role__slug: role },
      "reads its role's devices; writes their status and its own custom fields, and clears desired_action",
    ),
    permission(
      "interfaces",
      ["dcim.interface"],
      ["view"],
      null,
      "reads which switch port a device is plugged into: the far end of a cable is another role's device",
    ),
    permission(
      "primary MACs",
      ["dcim.interface"],
      ["change"],
      { device__role__slug: role },
      "sets the MAC that a machine has booted from",
    ),
    permission(
      "MAC addresses",
      ["dcim.macaddress"],
      ["view", "add"],
      onRole,
      "records that MAC on the device's interface",
    ),
    permission("addresses", ["ipam.ipaddress"], ["view"], onRole, "hears of addresses that moved"),
    permission(
      "cables",
      ["dcim.cable"],
      ["view"],
      { terminations___device__role__slug: role },
      "hears of cables that moved",
    ),
    permission("prefixes", ["ipam.prefix"], ["view"], null, "reads the gateway of the prefix that holds an address"),
    permission(
      "journal",
      ["extras.journalentry"],
      ["view", "add"],
      ofType("assigned_object_type"),
      "writes the journal of devices, and looks up what it has written before it writes again",
    ),
    permission(
      "change log",
      ["core.objectchange"],
      ["view"],
      ofType("changed_object_type"),
      "reads who asked for what, and when: a request is an entry of the change log",
    ),
    permission(
      "custom fields",
      ["extras.customfield"],
      ["view"],
      { name__in: WANTED_FIELDS.map((field) => field.name) },
      "fleetctl doctor compares the fields with what fleetd needs",
    ),
  ];
}
