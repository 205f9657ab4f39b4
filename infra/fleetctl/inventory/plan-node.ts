import { defaultFieldNames as names } from "../../../shared/adapters/netbox/field-names.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import type { NodeEntry } from "./nodes-schema.ts";
import type { InventoryState, NamedRow } from "./state.ts";
import { type AddressKey, type InventoryStep, shown } from "./step.ts";

/** A node of the file beside what NetBox has of it. */
export interface Subject {
  readonly name: string;
  readonly entry: NodeEntry;
  /** null: not in NetBox yet. */
  readonly device: Device | null;
  readonly row: NamedRow | null;
}

export interface NodePlan {
  readonly steps: readonly InventoryStep[];
  readonly refused: readonly string[];
  readonly notes: readonly string[];
}

const DEFAULT_INTERFACE_TYPE = "1000base-t";

/** What NetBox lacks of one node. Keys that the file leaves out are left as they are; nothing is taken away. */
export function planNode(subject: Subject, state: InventoryState, role: string): NodePlan {
  const plan = { steps: [] as InventoryStep[], refused: [] as string[], notes: [] as string[] };
  const { name, entry, device, row } = subject;
  const refuse = (words: string) => void plan.refused.push(`${name}: ${words}`);
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
  const host = planInterface(plan, subject, false, refuse);
  if (host !== null) {
    planMac(plan, subject, host, refuse);
    planCable(plan, subject, host, state, refuse);
  }
  const management = planInterface(plan, subject, true, refuse);
  const addresses: Partial<Record<AddressKey, string>> = {};
  const texts: string[] = [];
  const wantAddress = (wanted: string | undefined, port: string | null, key: AddressKey, what: string) => {
    if (wanted === undefined || port === null) return;
    const has = row?.[key]?.address ?? null;
    if (has !== null && (wanted.includes("/") ? has === wanted : hostOf(has) === hostOf(wanted))) return;
    if (!planAddress(plan, subject, port, wanted, state, refuse)) return;
    addresses[key] = hostOf(wanted);
    texts.push(`${what}: ${shown(has)} → ${wanted}`);
  };
  const family = entry.address?.includes(":") === true ? "primary_ip6" : "primary_ip4";
  wantAddress(entry.address, host, family, "primary address");
  wantAddress(entry.bmc_address, management, "oob_ip", "OOB IP");
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

export function hostOf(address: string): string {
  return address.split("/")[0] ?? "";
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

type Refuse = (words: string) => void;
type Steps = { readonly steps: InventoryStep[] };

/** The interface that is meant, made where it is missing; null where nothing of the file is about one. */
function planInterface(
  plan: Steps,
  { name, entry, device }: Subject,
  management: boolean,
  refuse: Refuse,
): string | null {
  const about = management
    ? [entry.bmc_interface, entry.bmc_address]
    : [entry.interface, entry.mac, entry.switch_port, entry.address];
  if (about.every((one) => one === undefined)) return null;
  const wanted = management ? entry.bmc_interface : entry.interface;
  const alike = (device?.interfaces ?? []).filter((one) => one.managementOnly === management);
  if (wanted === undefined && alike.length > 1) {
    const all = alike.map((one) => one.name).join(", ");
    refuse(`has ${all}: ${management ? "bmc_interface" : "interface"} must say which is meant`);
    return null;
  }
  const port = wanted ?? alike[0]?.name ?? (management ? "bmc" : "eth0");
  const has = device?.interfaces.find((one) => one.name === port);
  if (has === undefined)
    plan.steps.push({
      do: "create-interface",
      node: name,
      name: port,
      type: management ? DEFAULT_INTERFACE_TYPE : (entry.interface_type ?? DEFAULT_INTERFACE_TYPE),
      management,
    });
  else if (management && !has.managementOnly) plan.steps.push({ do: "mark-management", node: name, name: port });
  else if (!management && has.managementOnly) {
    refuse(`interface ${port} is for management only in NetBox: it boots no machine`);
    return null;
  }
  return port;
}

function planMac(plan: Steps, { name, entry, device }: Subject, port: string, refuse: Refuse): void {
  const has = device?.interfaces.find((one) => one.name === port)?.primaryMac ?? null;
  if (entry.mac === undefined || entry.mac === has) return;
  if (has === null) plan.steps.push({ do: "set-mac", node: name, name: port, mac: entry.mac });
  else refuse(`${port} has MAC ${has} in NetBox, and the file says ${entry.mac}: one of them is wrong`);
}

function planCable(plan: Steps, subject: Subject, port: string, state: InventoryState, refuse: Refuse): void {
  const { name, entry, device } = subject;
  if (entry.switch_port === undefined) return;
  const { device: switchName, interface: switchPort } = entry.switch_port;
  const text = `${switchName} ${switchPort}`;
  const own = device?.interfaces.find((one) => one.name === port);
  if (own?.peer?.deviceName === switchName && own.peer.interfaceName === switchPort) return;
  if (own?.peer != null)
    return refuse(
      `${port} is plugged into ${own.peer.deviceName} ${own.peer.interfaceName} in NetBox, and the file says ${text}: take the wrong cable away there`,
    );
  if (state.ports.find((one) => one.id === own?.id)?.cable != null)
    return refuse(`${port} has a cable in NetBox that ends at no single interface, and the file says ${text}`);
  const switches = state.named.filter((one) => one.name === switchName);
  const [found, ...more] = state.ports.filter(
    (one) => one.name === switchPort && switches.some((each) => each.id === one.device.id),
  );
  if (switches.length === 0) return refuse(`NetBox has no device ${switchName} to be plugged into`);
  if (found === undefined) return refuse(`${switchName} has no interface ${switchPort} in NetBox`);
  if (more.length > 0) return refuse(`NetBox has more than one ${text}`);
  const [peer] = found.link_peers;
  if (found.cable !== null)
    return refuse(
      `${text} is taken in NetBox, by ${peer?.device?.name ?? "another cable"} ${peer?.name ?? ""}`.trimEnd(),
    );
  plan.steps.push({ do: "connect", node: name, name: port, switchPort: text, portId: found.id });
}

/** @returns whether the device will have the address, and may make it its primary or OOB IP */
function planAddress(
  plan: Steps,
  subject: Subject,
  port: string,
  wanted: string,
  state: InventoryState,
  refuse: Refuse,
): boolean {
  const { name, row } = subject;
  const [found, ...more] = state.addresses.filter((one) => hostOf(one.address).toLowerCase() === hostOf(wanted));
  const address = wanted.includes("/") ? wanted : `${wanted}/${wanted.includes(":") ? 128 : 32}`;
  if (found === undefined) {
    plan.steps.push({ do: "create-address", node: name, name: port, address });
    return true;
  }
  const holder = found.assigned_object?.device;
  if (more.length > 0) refuse(`NetBox has address ${hostOf(wanted)} more than once`);
  else if (wanted.includes("/") && found.address.toLowerCase() !== wanted)
    refuse(`NetBox has ${found.address}, and the file says ${wanted}`);
  else if (found.assigned_object_id === null)
    plan.steps.push({ do: "assign-address", node: name, name: port, address: found.address, id: found.id });
  else if (row === null || holder?.id !== row.id) {
    refuse(`address ${found.address} is of ${holder?.name ?? "another object"} in NetBox`);
  } else return true;
  return more.length === 0 && found.assigned_object_id === null;
}
