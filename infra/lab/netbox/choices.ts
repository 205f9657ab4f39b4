/** Choice sets of NetBox that the lab's fields use: value → label. */
export const choices = {
  deviceStatus: {
    offline: "Offline",
    active: "Active",
    planned: "Planned",
    staged: "Staged",
    failed: "Failed",
    inventory: "Inventory",
    decommissioning: "Decommissioning",
  },
  siteStatus: { planned: "Planned", active: "Active", retired: "Retired" },
  addressStatus: { active: "Active", reserved: "Reserved", deprecated: "Deprecated", dhcp: "DHCP" },
  cableStatus: { connected: "Connected", planned: "Planned", decommissioning: "Decommissioning" },
  cableType: { cat5e: "CAT5e", cat6: "CAT6", cat6a: "CAT6a" },
  interfaceType: {
    virtual: "Virtual",
    "1000base-t": "1000BASE-T (1GE)",
    "2.5gbase-t": "2.5GBASE-T (2.5GE)",
    "10gbase-t": "10GBASE-T (10GE)",
    "10gbase-x-sfpp": "SFP+ (10GE)",
    other: "Other",
  },
  journalKind: { info: "Info", success: "Success", warning: "Warning", danger: "Danger" },
  changeAction: { create: "Created", update: "Updated", delete: "Deleted" },
  fieldType: {
    text: "Text",
    longtext: "Text (long)",
    integer: "Integer",
    boolean: "Boolean (true/false)",
    datetime: "Date & time",
    json: "JSON",
    select: "Selection",
  },
  filterLogic: { disabled: "Disabled", loose: "Loose", exact: "Exact" },
} as const satisfies Record<string, Record<string, string>>;

export type ChoiceSet = Readonly<Record<string, string>>;

/** A choice as it is read; an unset one is null. */
export function choice(set: ChoiceSet, value: unknown): { value: string; label: string } | null {
  return typeof value === "string" && value !== "" ? { value, label: set[value] ?? value } : null;
}
