import type { Device } from "./device.ts";
import type { DeviceRecord } from "./record.ts";

interface InstalledAs {
  /** The name that counts until the next provision, whatever NetBox says meanwhile. */
  readonly name: string;
  readonly serial: string;
}

/** A node's name holds no dot: what follows it in the CN names the TPM. */
const SUBJECT =
  /^(?:CN=([^.,+]+)\.[0-9a-f]{16},SERIALNUMBER=([^,+]+)|SERIALNUMBER=([^,+]+),CN=([^.,+]+)\.[0-9a-f]{16})$/;

/** What the recorded LDevID's subject says, or null where there is none that names a node. */
export function installedAs({ identity }: Pick<DeviceRecord, "identity">): InstalledAs | null {
  const [, name, serial, serialFirst, nameLast] = SUBJECT.exec(identity?.subject ?? "") ?? [];
  const found = { name: name ?? nameLast, serial: serial ?? serialFirst };
  return found.name === undefined || found.serial === undefined ? null : { name: found.name, serial: found.serial };
}

/** Whether NetBox's serial is the certificate's: firmware and people write it in either case. */
export function isInstalledSerial(device: Pick<Device, "serial">, installed: InstalledAs): boolean {
  return device.serial.toLowerCase() === installed.serial.toLowerCase();
}
