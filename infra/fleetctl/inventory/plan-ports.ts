import type { Device } from "../../../shared/fleet/device.ts";
import type { NodeEntry } from "./nodes-schema.ts";
import type { InventoryState, NamedRow } from "./state.ts";
import type { InventoryStep } from "./step.ts";

/** A node of the file beside what NetBox has of it. */
export interface Subject {
  readonly name: string;
  readonly entry: NodeEntry;
  /** null: not in NetBox yet. */
  readonly device: Device | null;
  readonly row: NamedRow | null;
}

/** Where what a part of the plan comes to is put. */
export interface Draft {
  readonly steps: InventoryStep[];
  readonly notes: string[];
  refuse(words: string): void;
}

const DEFAULT_INTERFACE_TYPE = "1000base-t";

/** The interface that is meant, made where it is missing; null where nothing of the file is about one. */
export function planInterface(
  plan: Draft,
  { name, entry, device, row }: Subject,
  management: boolean,
  state: InventoryState,
): string | null {
  const about = management
    ? [entry.bmc_interface, entry.bmc_address]
    : [entry.interface, entry.mac, entry.switch_port, entry.address];
  if (about.every((one) => one === undefined)) return null;
  const key = management ? "bmc_interface" : "interface";
  const wanted = entry[key];
  // A new device gets the interfaces of its type.
  const all = device?.interfaces ?? state.templates.filter((one) => one.deviceType === entry.device_type);
  const alike = all.filter((one) => one.managementOnly === management);
  const names = alike.map((one) => one.name).join(", ");
  const whose = device === null ? `its device type brings ${names}` : `has ${names}`;
  if (wanted === undefined && alike.length > 1) {
    plan.refuse(`${whose}: ${key} must say which is meant`);
    return null;
  }
  const port = wanted ?? alike[0]?.name ?? (management ? "bmc" : "eth0");
  if (port.includes("{")) {
    plan.refuse(
      `${whose}, which NetBox names when the device is made: declare it without its ports and addresses first`,
    );
    return null;
  }
  const has = all.find((one) => one.name === port);
  if (has === undefined)
    plan.steps.push({
      do: "create-interface",
      node: name,
      name: port,
      type: management ? DEFAULT_INTERFACE_TYPE : (entry.interface_type ?? DEFAULT_INTERFACE_TYPE),
      management,
    });
  else if (management && !has.managementOnly) {
    const why = hostPort(plan, port, device, row, state);
    if (why !== null) {
      plan.refuse(`interface ${port} ${why}: it is no BMC's, or NetBox is to say so first`);
      return null;
    }
    plan.steps.push({ do: "mark-management", node: name, name: port });
  } else if (!management && has.managementOnly) {
    plan.refuse(`interface ${port} is for management only in NetBox: it boots no machine`);
    return null;
  }
  return port;
}

/** Why a port is what the machine boots and is reached by, or null where nothing says so. */
function hostPort(
  { steps }: Draft,
  port: string,
  device: Device | null,
  row: NamedRow | null,
  state: InventoryState,
): string | null {
  const own = device?.interfaces.find((one) => one.name === port);
  if (own === undefined) return null;
  if (own.macs.length > 0) return `has MAC ${own.macs[0]} in NetBox, as a host's`;
  if (state.ports.some((one) => one.id === own.id && one.cable !== null)) return "has a cable in NetBox, as a host's";
  const primary = [row?.primary_ip4?.id, row?.primary_ip6?.id];
  const address = state.addresses.find((one) => one.assigned_object_id === own.id && primary.includes(one.id));
  if (address !== undefined) return `has the primary address ${address.address} in NetBox`;
  const others = device?.interfaces.some((one) => one.name !== port && !one.managementOnly) === true;
  const made = steps.some((step) => step.do === "create-interface" && step.node === device?.name && !step.management);
  return others || made ? null : "is the only one in NetBox by which the machine could boot";
}

export function planMac(plan: Draft, { name, entry, device }: Subject, port: string): void {
  const has = device?.interfaces.find((one) => one.name === port)?.primaryMac ?? null;
  if (entry.mac === undefined || entry.mac === has) return;
  if (has === null) plan.steps.push({ do: "set-mac", node: name, name: port, mac: entry.mac });
  else plan.refuse(`${port} has MAC ${has} in NetBox, and the file says ${entry.mac}: one of them is wrong`);
}

export function planCable(plan: Draft, subject: Subject, port: string, state: InventoryState): void {
  const { name, entry, device } = subject;
  if (entry.switch_port === undefined) return;
  const { device: switchName, interface: switchPort } = entry.switch_port;
  const text = `${switchName} ${switchPort}`;
  const own = device?.interfaces.find((one) => one.name === port);
  if (own?.peer?.deviceName === switchName && own.peer.interfaceName === switchPort) return;
  if (own?.peer != null)
    return plan.refuse(
      `${port} is plugged into ${own.peer.deviceName} ${own.peer.interfaceName} in NetBox, and the file says ${text}: take the wrong cable away there`,
    );
  if (state.ports.find((one) => one.id === own?.id)?.cable != null)
    return plan.refuse(`${port} has a cable in NetBox that ends at no single interface, and the file says ${text}`);
  const switches = state.named.filter((one) => one.name === switchName);
  const [found, ...more] = state.ports.filter(
    (one) => one.name === switchPort && switches.some((each) => each.id === one.device.id),
  );
  if (switches.length === 0) return plan.refuse(`NetBox has no device ${switchName} to be plugged into`);
  if (found === undefined) return plan.refuse(`${switchName} has no interface ${switchPort} in NetBox`);
  if (more.length > 0) return plan.refuse(`NetBox has more than one ${text}`);
  const [peer] = found.link_peers;
  if (found.cable !== null)
    return plan.refuse(
      `${text} is taken in NetBox, by ${peer?.device?.name ?? "another cable"} ${peer?.name ?? ""}`.trimEnd(),
    );
  plan.steps.push({ do: "connect", node: name, name: port, switchPort: text, portId: found.id });
}
