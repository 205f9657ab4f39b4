import { conflictIn, inventoryIndex } from "../../../shared/fleet/conflicts.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import { canonicalHost } from "./addresses.ts";
import type { NodesFile } from "./nodes-file.ts";
import type { NodeEntry } from "./nodes-schema.ts";
import { hostOf } from "./plan-addresses.ts";
import { planNode } from "./plan-node.ts";
import type { Subject } from "./plan-ports.ts";
import type { InventoryState } from "./state.ts";
import type { InventoryStep } from "./step.ts";

export interface InventoryPlan {
  readonly steps: readonly InventoryStep[];
  /** With any of them nothing is done. */
  readonly refused: readonly string[];
  readonly notes: readonly string[];
}

/** What NetBox lacks of the file. Devices that the file does not name are left alone. @see infra/docs/inventory.md */
export function planInventory(file: NodesFile, state: InventoryState, role: string): InventoryPlan {
  const plan = { steps: [] as InventoryStep[], refused: [] as string[], notes: [] as string[] };
  planPrefixes(plan, file, state);
  const subjects: Subject[] = [];
  for (const [name, entry] of file.nodes) {
    const rows = state.named.filter((row) => row.name === name);
    const [row, ...more] = rows;
    if (more.length > 0) plan.refused.push(`${name}: NetBox has more than one device of that name`);
    else if (row !== undefined && row.role.slug !== role)
      plan.refused.push(`${name}: NetBox has a device of that name with role ${row.role.slug}, not ${role}`);
    else
      subjects.push({ name, entry, row: row ?? null, device: state.devices.find((one) => one.id === row?.id) ?? null });
  }
  for (const subject of subjects) {
    const { steps, refused, notes } = planNode(subject, state, role);
    plan.steps.push(...steps);
    plan.refused.push(...refused);
    plan.notes.push(...notes);
  }
  plan.refused.push(...sharedInFile(subjects));
  const conflicts = conflictsOf(subjects, state);
  plan.refused.push(...conflicts.made);
  plan.notes.push(...conflicts.old);
  return plan;
}

function planPrefixes(
  plan: { steps: InventoryStep[]; refused: string[] },
  file: NodesFile,
  state: InventoryState,
): void {
  for (const [prefix, gateway] of file.prefixes) {
    const [row, ...more] = state.prefixes.filter((one) => one.prefix === prefix);
    const told = row?.custom_fields.gateway ?? null;
    const has = typeof told === "string" ? (canonicalHost(told) ?? told) : told;
    if (row === undefined) plan.steps.push({ do: "create-prefix", prefix, gateway });
    else if (gateway === null || has === gateway) continue;
    else if (more.length > 0) plan.refused.push(`prefix ${prefix}: NetBox has it more than once`);
    else if (has !== null && has !== "")
      plan.refused.push(`prefix ${prefix}: NetBox has gateway ${has}, and the file says ${gateway}`);
    else plan.steps.push({ do: "set-gateway", prefix, id: row.id, gateway });
  }
}

/** What the file wants twice, of what fleetd's own rule does not look at. */
function sharedInFile(subjects: readonly Subject[]): string[] {
  const holders = new Map<string, string>();
  const refused: string[] = [];
  for (const { name, entry } of subjects) {
    const { switch_port: port, address, bmc_address: bmc } = entry;
    const values = [
      ...(port === undefined ? [] : [`switch port ${port.device} ${port.interface}`]),
      ...(address === undefined ? [] : [`address ${hostOf(address)}`]),
    ];
    for (const value of values) {
      const holder = holders.get(value);
      if (holder !== undefined) refused.push(`${name}: ${value} is ${holder}'s too in the file`);
      holders.set(value, holder ?? name);
    }
    if (address !== undefined && bmc !== undefined && hostOf(address) === hostOf(bmc))
      refused.push(`${name}: address and bmc_address are both ${hostOf(bmc)}`);
  }
  for (const { name, entry } of subjects) {
    const host = entry.bmc_address === undefined ? null : hostOf(entry.bmc_address);
    const holder = host === null ? undefined : holders.get(`address ${host}`);
    if (holder !== undefined && holder !== name)
      refused.push(`${name}: bmc_address ${host} is ${holder}'s address in the file`);
  }
  return refused;
}

/** Devices that would share what no two may share: such a pair waits, both of them. @see spec/00-overview.md "NetBox" */
function conflictsOf(subjects: readonly Subject[], { devices }: InventoryState): { made: string[]; old: string[] } {
  const after = subjects.map(({ name, entry, device }, i) => merged(name, entry, device ?? newDevice(-1 - i)));
  const changed = new Map(after.map((device) => [device.id, device]));
  const whole = [...devices.filter((one) => !changed.has(one.id)), ...after];
  const [before, then] = [inventoryIndex(devices, new Map()), inventoryIndex(whole, new Map())];
  const made: string[] = [];
  const old: string[] = [];
  for (const device of after) {
    const words = conflictIn(then, device, null);
    if (words === null) continue;
    const known = devices.find((one) => one.id === device.id);
    const was = known === undefined ? null : conflictIn(before, known, null);
    const had = new Set(pairsOf(was ?? ""));
    (pairsOf(words).every((pair) => had.has(pair)) ? old : made).push(
      `${device.name}: ${words.replace(/\(device -\d+\)/g, "(of the file)")}`,
    );
  }
  return { made, old };
}

/** Each value of a conflict's sentence with each device that has it too. */
function pairsOf(words: string): string[] {
  const parts = words.replace(/^shares /, "").split(/(?<=\(device -?\d+\)); /);
  return parts.flatMap((part) => {
    const [value = ""] = part.split(" with ");
    return [...part.matchAll(/\(device (-?\d+)\)/g)].map(([, id]) => `${value} ${id}`);
  });
}

function merged(name: string, entry: NodeEntry, device: Device): Device {
  const eks = entry.approved_eks ?? device.approvedEks;
  const { mac } = entry;
  const macs = mac === undefined || device.interfaces.some((one) => one.macs.includes(mac)) ? [] : [mac];
  const first = { id: 0, name: "", managementOnly: false, primaryMac: null, macs, peer: null };
  return {
    ...device,
    name,
    serial: entry.serial ?? device.serial,
    approvedEks: eks,
    installDiskSerial: entry.install_disk_serial ?? device.installDiskSerial,
    oobAddress: entry.bmc_address === undefined ? device.oobAddress : hostOf(entry.bmc_address),
    interfaces: macs.length === 0 ? device.interfaces : [...device.interfaces, first],
  };
}

function newDevice(id: number): Device {
  return {
    id,
    name: "",
    serial: "",
    status: "planned",
    lastUpdated: "",
    fleetClass: null,
    desiredAction: null,
    installDisk: null,
    installDiskSerial: null,
    bmcType: null,
    oobAddress: null,
    approvedEks: null,
    protected: false,
    clusterTokenApproved: false,
    address: null,
    interfaces: [],
    shown: {
      attestationVerdict: null,
      attestedAt: null,
      dbxHash: null,
      sbatLevel: null,
      fleetRun: null,
      fleetIdentity: null,
    },
  };
}
