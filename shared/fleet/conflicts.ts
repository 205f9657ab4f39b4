import { parseEkBindings } from "./binding.ts";
import type { Device } from "./device.ts";

const PLACEHOLDERS = new Set([
  "default string",
  "to be filled by o.e.m.",
  "system serial number",
  "chassis serial number",
  "not specified",
  "none",
  "0123456789",
  "123456789",
  "o.e.m.",
  "n/a",
]);

/** True for a serial that names a machine: not empty, no vendor's placeholder, not all zeros. */
export function isSerial(serial: string): boolean {
  const text = serial.trim().toLowerCase();
  return /^[a-z0-9._-]{1,64}$/.test(text) && !PLACEHOLDERS.has(text) && !/^[0.-]+$/.test(text) && !/^f+$/.test(text);
}

/** True for an SMBIOS UUID that names a machine: lower case, not all zeros or all f. */
export function isUuid(uuid: string): boolean {
  return (
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(uuid) &&
    !/^[0-]+$/.test(uuid) &&
    !/^[f-]+$/.test(uuid) &&
    uuid !== "03000200-0400-0500-0006-000700080009"
  );
}

/** DNS-1123 label of at most 40 characters (spec/00, "NetBox"). */
export function isName(name: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name);
}

interface SharedValue {
  readonly kind: string;
  readonly value: string;
}

function valuesOf(device: Device, uuid: string | null): SharedValue[] {
  const values: SharedValue[] = [{ kind: "name", value: device.name }];
  if (device.serial !== "") values.push({ kind: "serial", value: device.serial.toLowerCase() });
  for (const b of parseEkBindings(device.approvedEks)) values.push({ kind: "approved EK", value: b.digest });
  if (uuid !== null) values.push({ kind: "UUID", value: uuid });
  for (const i of device.interfaces) for (const mac of i.macs) values.push({ kind: "MAC", value: mac });
  if (device.oobAddress !== null) values.push({ kind: "OOB IP", value: device.oobAddress });
  if (device.installDiskSerial !== null)
    values.push({ kind: "install_disk_serial", value: device.installDiskSerial.toLowerCase() });
  return values;
}

/** What fleetd's record of a device says that no other may have. */
export interface Bound {
  readonly uuid: string | null;
  readonly node: NodeOf | null;
}

/** A Node by what fleetd did for it: the name in its certificates, and when its configuration was served. */
export interface NodeOf {
  readonly name: string;
  readonly servedAtMs: number;
}

interface NodeHolder {
  readonly id: number;
  readonly servedAtMs: number;
  readonly isOffline: boolean;
}

/** Who holds each value that no two devices may share; offline devices hold none. */
export interface InventoryIndex {
  readonly holders: ReadonlyMap<string, readonly number[]>;
  /** Who was installed under a Node's name, whatever NetBox calls them now; offline ones too. */
  readonly nodes: ReadonlyMap<string, readonly NodeHolder[]>;
  readonly names: ReadonlyMap<number, string>;
}

const keyOf = ({ kind, value }: SharedValue) => `${kind} ${value}`;

function add<T>(lists: Map<string, T[]>, key: string, one: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [one]);
  else list.push(one);
}

/** @param bindings device id → what its record binds */
export function inventoryIndex(devices: readonly Device[], bindings: ReadonlyMap<number, Bound>): InventoryIndex {
  const holders = new Map<string, number[]>();
  const nodes = new Map<string, NodeHolder[]>();
  const names = new Map<number, string>();
  for (const device of devices) {
    const { id } = device;
    const isOffline = device.status === "offline";
    const { uuid, node } = bindings.get(id) ?? { uuid: null, node: null };
    names.set(id, device.name);
    if (node !== null) add(nodes, node.name, { id, servedAtMs: node.servedAtMs, isOffline });
    if (isOffline) continue;
    for (const key of new Set(valuesOf(device, uuid).map(keyOf))) add(holders, key, id);
  }
  return { holders, nodes, names };
}

/** The others of them in words, or null where there are none. */
function othersIn(names: InventoryIndex["names"], held: readonly number[] | undefined, id: number): string | null {
  const others = [...new Set(held)].filter((one) => one !== id);
  return others.length === 0 ? null : others.map((one) => `${names.get(one)} (device ${one})`).join(", ");
}

/** Other devices that have the name now, or a Node of it, in words, or null; offline ones have neither. */
export function namesakesIn(index: InventoryIndex, { id, name }: Pick<Device, "id" | "name">): string | null {
  const { holders, nodes, names } = index;
  const named = holders.get(keyOf({ kind: "name", value: name })) ?? [];
  const installed = (nodes.get(name) ?? []).filter((one) => !one.isOffline).map((one) => one.id);
  return othersIn(names, [...named, ...installed], id);
}

/** A device as its own record tells of the Node of a name. */
export interface Claimant {
  readonly id: number;
  readonly name: string;
  /** Null where it was not installed under the name. */
  readonly own: NodeOf | null;
  /** It is offline, and no retirement of it has still to take the Node away. */
  readonly hasLeft: boolean;
}

/**
 * Whose the Node of this name is rather than the device's, in words, or null: the device's that was installed last under
 * it; and where this one has left or was never installed, anybody's who has the name and is not offline.
 */
export function othersNodeIn(index: InventoryIndex, { id, name, own, hasLeft }: Claimant): string | null {
  const { nodes, names } = index;
  const isLater = (one: NodeHolder) =>
    own !== null && (one.servedAtMs > own.servedAtMs || (one.servedAtMs === own.servedAtMs && one.id > id));
  const later = othersIn(
    names,
    (nodes.get(name) ?? []).filter(isLater).map((one) => one.id),
    id,
  );
  if (later !== null || (own !== null && !hasLeft)) return later;
  return namesakesIn(index, { id, name });
}

/**
 * What the device shares with another of the role: a sentence that names value and devices, or null.
 * @see spec/00-overview.md "NetBox" (inventory-conflict)
 */
export function conflictIn(index: InventoryIndex, device: Device, uuid: string | null): string | null {
  if (device.status === "offline") return null;
  const { holders, names } = index;
  const texts = valuesOf(device, uuid).flatMap((v) => {
    const others = othersIn(names, holders.get(keyOf(v)), device.id);
    return others === null ? [] : [`${v.kind} ${v.value} with ${others}`];
  });
  return texts.length === 0 ? null : `shares ${texts.join("; ")}`;
}

/** What stands in the way of an install under the device's name: what it shares, and a Node that another still has. */
export function installConflictIn(index: InventoryIndex, device: Device, uuid: string | null): string | null {
  const shared = conflictIn(index, device, uuid);
  if (device.status === "offline") return shared;
  const { nodes, names } = index;
  const renamed = (nodes.get(device.name) ?? []).filter((n) => !n.isOffline && names.get(n.id) !== device.name);
  const others = othersIn(
    names,
    renamed.map((one) => one.id),
    device.id,
  );
  if (others === null) return shared;
  const text = `name ${device.name} with the Node of ${others}, installed under it and renamed since`;
  return shared === null ? `shares ${text}` : `${shared}; ${text}`;
}
