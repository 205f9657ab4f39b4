import { defaultFieldNames as names } from "../../../shared/adapters/netbox/field-names.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import type { NodeEntry } from "./nodes-schema.ts";
import { hostOf, planAddress } from "./plan-addresses.ts";
import { planCable, planInterface, planMac, type Subject } from "./plan-ports.ts";
import type { InventoryState } from "./state.ts";
import { type AddressKey, type InventoryStep, shown } from "./step.ts";

export interface NodePlan {
  readonly steps: readonly InventoryStep[];
  readonly refused: readonly string[];
  readonly notes: readonly string[];
}

/** What NetBox lacks of one node. Keys that the file leaves out are left as they are; nothing is taken away. */
export function planNode(subject: Subject, state: InventoryState, role: string): NodePlan {
  const { name, entry, device, row } = subject;
  const refused: string[] = [];
  const refuse = (words: string) => void refused.push(`${name}: ${words}`);
  const plan = { steps: [] as InventoryStep[], refused, notes: [] as string[], refuse };
  if (device === null) {
    const missing = (["serial", "site", "device_type"] as const).filter((key) => entry[key] === undefined);
    if (missing.length > 0) refuse(`is not in NetBox, and without ${missing.join(", ")} it cannot be declared`);
    if (entry.site !== undefined && !state.sites.has(entry.site)) refuse(`NetBox has no site ${entry.site}`);
    if (entry.device_type !== undefined && !state.deviceTypes.has(entry.device_type))
      refuse(`NetBox has no device type ${entry.device_type}`);
    if (plan.refused.length > 0) return plan;
    plan.steps.push({ do: "create-device", node: name, body: newDevice(name, entry, role) });
  }
  const elsewhere = (["site", "device_type"] as const).filter(
    (key) => row !== null && differs(entry[key], row[key].slug),
  );
  for (const key of elsewhere) plan.notes.push(`${name}: NetBox has ${key} ${row?.[key].slug}; it is left so`);
  const host = planInterface(plan, subject, false, state);
  if (host !== null) {
    planMac(plan, subject, host);
    planCable(plan, subject, host, state);
  }
  const management = planInterface(plan, subject, true, state);
  if (host !== null && host === management)
    refuse(`${host} cannot be both: the interface that boots the machine, and its BMC's`);
  const addresses: Partial<Record<AddressKey, string>> = {};
  const texts: string[] = [];
  const want = (key: AddressKey, what: string, address: string | undefined, port: string | null) => {
    if (address === undefined || port === null) return;
    const text = planAddress(plan, subject, { key, what, address, port }, state);
    if (text === null) return;
    addresses[key] = hostOf(address);
    texts.push(text);
  };
  const six = entry.address?.includes(":") === true;
  want(six ? "primary_ip6" : "primary_ip4", "primary address", entry.address, host);
  want("oob_ip", "OOB IP", entry.bmc_address, management);
  if (six && row?.primary_ip4 != null)
    plan.notes.push(
      `${name}: fleetd goes by its primary IPv4 address ${row.primary_ip4.address}, not by ${entry.address}`,
    );
  const fields = device === null ? lastField(entry) : changedFields(entry, device);
  if (fields.texts.length + texts.length > 0)
    plan.steps.push({
      do: "change-device",
      node: name,
      body: fields.body,
      addresses,
      lastUpdated: device?.lastUpdated ?? null,
      texts: [...fields.texts, ...texts],
    });
  return plan;
}

function differs(wanted: string | undefined, has: string): boolean {
  return wanted !== undefined && wanted !== has;
}

const KEPT = {
  fleet_class: [names.fleetClass, (device: Device) => device.fleetClass],
  install_disk: [names.installDisk, (device: Device) => device.installDisk],
  install_disk_serial: [names.installDiskSerial, (device: Device) => device.installDiskSerial],
  bmc_type: [names.bmcType, (device: Device) => device.bmcType],
  approved_eks: [names.approvedEks, (device: Device) => device.approvedEks],
  protected: [names.protected, (device: Device) => device.protected],
  cluster_token_approved: [names.clusterTokenApproved, (device: Device) => device.clusterTokenApproved],
} as const satisfies Partial<Record<keyof NodeEntry, readonly [string, (device: Device) => unknown]>>;

/**
 * Without a class nothing begins, so it is given when all else is there: an admission before its cable would check no
 * switch port. A run that is cut off leaves a device that waits, and the next run gives it.
 */
const LAST = "fleet_class" satisfies keyof typeof KEPT;

function lastField(entry: NodeEntry): { body: Record<string, unknown>; texts: string[] } {
  const value = entry[LAST];
  if (value === undefined) return { body: {}, texts: [] };
  return { body: { custom_fields: { [KEPT[LAST][0]]: value } }, texts: [`${LAST}: ${shown(null)} → ${value}`] };
}

function newDevice(name: string, entry: NodeEntry, role: string): Record<string, unknown> {
  const fields = Object.entries(KEPT).flatMap(([key, [field]]) => {
    const value = entry[key as keyof typeof KEPT];
    return value === undefined || key === LAST ? [] : [[field, value] as const];
  });
  return {
    name,
    serial: entry.serial,
    role: { slug: role },
    site: { slug: entry.site },
    device_type: { slug: entry.device_type },
    status: entry.status ?? "planned",
    custom_fields: Object.fromEntries(fields),
  };
}

function changedFields(entry: NodeEntry, device: Device): { body: Record<string, unknown>; texts: string[] } {
  const texts: string[] = [];
  const custom: Record<string, unknown> = {};
  for (const [key, [field, stored]] of Object.entries(KEPT)) {
    const wanted = entry[key as keyof typeof KEPT];
    const has = stored(device);
    if (wanted === undefined || canonical(wanted) === canonical(has)) continue;
    custom[field] = wanted;
    texts.push(`${key}: ${shown(has)} → ${shown(wanted)}`);
  }
  const serial = entry.serial !== undefined && entry.serial !== device.serial ? { serial: entry.serial } : {};
  if ("serial" in serial) texts.unshift(`serial: ${shown(device.serial)} → ${serial.serial}`);
  return { body: { ...serial, ...(Object.keys(custom).length > 0 && { custom_fields: custom }) }, texts };
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
