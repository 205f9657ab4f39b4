import type { Claimant, NodeOf } from "./conflicts.ts";
import type { Device } from "./device.ts";
import type { DeviceRecord } from "./record.ts";

interface InstalledAs {
  /** The name that counts until the next provision, whatever NetBox says meanwhile. */
  readonly name: string;
  readonly serial: string;
}

/** The attribute's value, where the subject has exactly one of it. */
function only(subject: string, attribute: string): string | null {
  const values = subject.split(/(?<!\\)[,+]/).filter((part) => part.startsWith(`${attribute}=`));
  return values.length === 1 ? (values[0]?.slice(attribute.length + 1) ?? null) : null;
}

/** What the recorded LDevID's subject says, or null where there is none that names a node. */
export function installedAs({ identity }: Pick<DeviceRecord, "identity">): InstalledAs | null {
  const subject = identity?.subject ?? "";
  const serial = only(subject, "SERIALNUMBER");
  const name = nodeNameIn(only(subject, "CN") ?? "");
  return name === null || serial === null ? null : { name, serial };
}

/** The node's name in an LDevID's CN, or null where it is none: a name holds no dot, and what follows it names the TPM. */
export function nodeNameIn(commonName: string): string | null {
  return /^([^.]+)\.[0-9a-f]{16}$/.exec(commonName)?.[1] ?? null;
}

/** The name of the device's Node: the one that it was installed with, until the next provision. */
export function nodeName(device: Pick<Device, "name">, record: Pick<DeviceRecord, "identity">): string {
  return installedAs(record)?.name ?? device.name;
}

/** The Node that the device was installed as, and when its configuration was served; null where it was not, as far as is known. */
export function nodeOf(record: Pick<DeviceRecord, "identity" | "installed">): NodeOf | null {
  const name = installedAs(record)?.name;
  if (name === undefined) return null;
  return { name, servedAtMs: record.installed?.servedAtMs ?? record.identity?.issuedAtMs ?? 0 };
}

/** What the device's own record tells of the Node of its name. */
export function claimantOf(
  device: Pick<Device, "id" | "name" | "status">,
  record: Pick<DeviceRecord, "identity" | "installed" | "retire">,
): Claimant {
  const isRetiring = record.retire !== null && record.retire.offlineAtMs === null;
  const hasLeft = device.status === "offline" && !isRetiring;
  return { id: device.id, name: nodeName(device, record), own: nodeOf(record), hasLeft };
}

/** True for a Node that is the device's by what fleetd did with it: its name alone may be another device's just as well. */
export function isOwnNode(
  { installed, identity, node }: Pick<DeviceRecord, "installed" | "identity" | "node">,
  seen: { readonly uid: string } | null,
): boolean {
  return installed !== null || installedAs({ identity }) !== null || (node !== null && node.uid === seen?.uid);
}

/** Whether NetBox's serial is the certificate's: firmware and people write it in either case. */
export function isInstalledSerial(device: Pick<Device, "serial">, installed: Pick<InstalledAs, "serial">): boolean {
  return device.serial.toLowerCase() === installed.serial.toLowerCase();
}
