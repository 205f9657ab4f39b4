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
  /** The name that its Node was installed with, whatever NetBox calls the device now. */
  readonly node: string | null;
}

/** Who holds each value that no two devices may share; offline devices hold none. */
export interface InventoryIndex {
  readonly holders: ReadonlyMap<string, readonly number[]>;
  /** Devices by the name of their Node, where it is not their own any more. */
  readonly nodes: ReadonlyMap<string, readonly number[]>;
  readonly names: ReadonlyMap<number, string>;
}

const keyOf = ({ kind, value }: SharedValue) => `${kind} ${value}`;

function add(holders: Map<string, number[]>, key: string, id: number): void {
  const held = holders.get(key);
  if (held === undefined) holders.set(key, [id]);
  else held.push(id);
}

/** @param bound device id → what its record binds */
export function inventoryIndex(devices: readonly Device[], bound: ReadonlyMap<number, Bound>): InventoryIndex {
  const holders = new Map<string, number[]>();
  const nodes = new Map<string, number[]>();
  const names = new Map<number, string>();
  for (const device of devices) {
    if (device.status === "offline") continue;
    names.set(device.id, device.name);
    const { uuid, node } = bound.get(device.id) ?? { uuid: null, node: null };
    for (const key of new Set(valuesOf(device, uuid).map(keyOf))) add(holders, key, device.id);
    if (node !== null && node !== device.name) add(nodes, node, device.id);
  }
  return { holders, nodes, names };
}

/** The others of them in words, or null where there are none. */
function othersIn(names: InventoryIndex["names"], held: readonly number[] | undefined, id: number): string | null {
  const others = (held ?? []).filter((one) => one !== id);
  return others.length === 0 ? null : others.map((one) => `${names.get(one)} (device ${one})`).join(", ");
}

/** Other devices with the device's name, or a Node of it, in words, or null; asked of one that is offline too. */
export function namesakesIn(index: InventoryIndex, { id, name }: Pick<Device, "id" | "name">): string | null {
  const { holders, nodes, names } = index;
  const named = holders.get(keyOf({ kind: "name", value: name })) ?? [];
  return othersIn(names, [...named, ...(nodes.get(name) ?? [])], id);
}

/**
 * What the device shares with another of the role: a sentence that names value and devices, or null.
 * @see spec/00-overview.md "NetBox" (inventory-conflict)
 */
export function conflictIn(index: InventoryIndex, device: Device, uuid: string | null): string | null {
  if (device.status === "offline") return null;
  const { holders, nodes, names } = index;
  const texts = valuesOf(device, uuid).flatMap((v) => {
    const others = othersIn(names, holders.get(keyOf(v)), device.id);
    return others === null ? [] : [`${v.kind} ${v.value} with ${others}`];
  });
  const installed = othersIn(names, nodes.get(device.name), device.id);
  if (installed !== null)
    texts.push(`name ${device.name} with the Node of ${installed}, installed under it and renamed since`);
  return texts.length === 0 ? null : `shares ${texts.join("; ")}`;
}
