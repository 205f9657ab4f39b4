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

/** Who holds each value that no two devices may share; offline devices hold none. */
export interface InventoryIndex {
  readonly holders: ReadonlyMap<string, readonly number[]>;
  readonly names: ReadonlyMap<number, string>;
}

const keyOf = ({ kind, value }: SharedValue) => `${kind} ${value}`;

/** @param uuids device id → the UUID that binds it */
export function inventoryIndex(devices: readonly Device[], uuids: ReadonlyMap<number, string>): InventoryIndex {
  const holders = new Map<string, number[]>();
  const names = new Map<number, string>();
  for (const device of devices) {
    if (device.status === "offline") continue;
    names.set(device.id, device.name);
    for (const key of new Set(valuesOf(device, uuids.get(device.id) ?? null).map(keyOf))) {
      const held = holders.get(key);
      if (held === undefined) holders.set(key, [device.id]);
      else held.push(device.id);
    }
  }
  return { holders, names };
}

/** Other devices with the device's name, in words, or null; unlike what it shares, asked of one that is offline too. */
export function namesakesIn({ holders, names }: InventoryIndex, device: Pick<Device, "id" | "name">): string | null {
  const all = holders.get(keyOf({ kind: "name", value: device.name })) ?? [];
  const others = all.filter((id) => id !== device.id);
  return others.length === 0 ? null : others.map((id) => `${names.get(id)} (device ${id})`).join(", ");
}

/**
 * What the device shares with another of the role: a sentence that names value and devices, or null.
 * @see spec/00-overview.md "NetBox" (inventory-conflict)
 */
export function conflictIn({ holders, names }: InventoryIndex, device: Device, uuid: string | null): string | null {
  if (device.status === "offline") return null;
  const texts = valuesOf(device, uuid).flatMap((v) => {
    const others = (holders.get(keyOf(v)) ?? []).filter((id) => id !== device.id);
    if (others.length === 0) return [];
    return [`${v.kind} ${v.value} with ${others.map((id) => `${names.get(id)} (device ${id})`).join(", ")}`];
  });
  return texts.length === 0 ? null : `shares ${texts.join("; ")}`;
}
