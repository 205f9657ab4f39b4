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

/**
 * What each device shares with another of the role (offline ones aside): device id → sentence naming value and devices.
 * @see spec/00-overview.md "NetBox" (inventory-conflict)
 */
export function inventoryConflicts(
  devices: readonly Device[],
  uuids: ReadonlyMap<number, string>,
): ReadonlyMap<number, string> {
  const holders = new Map<string, Set<number>>();
  const live = devices.filter((d) => d.status !== "offline");
  const values = new Map(live.map((d) => [d.id, valuesOf(d, uuids.get(d.id) ?? null)]));
  for (const d of live)
    for (const v of values.get(d.id) ?? []) {
      const key = `${v.kind} ${v.value}`;
      holders.set(key, (holders.get(key) ?? new Set()).add(d.id));
    }
  const names = new Map(live.map((d) => [d.id, d.name]));
  const conflicts = new Map<number, string>();
  for (const d of live) {
    const shared = (values.get(d.id) ?? []).filter((v) => (holders.get(`${v.kind} ${v.value}`)?.size ?? 0) > 1);
    if (shared.length === 0) continue;
    const texts = shared.map((v) => {
      const others = [...(holders.get(`${v.kind} ${v.value}`) ?? [])].filter((id) => id !== d.id);
      return `${v.kind} ${v.value} with ${others.map((id) => `${names.get(id)} (device ${id})`).join(", ")}`;
    });
    conflicts.set(d.id, `shares ${texts.join("; ")}`);
  }
  return conflicts;
}
