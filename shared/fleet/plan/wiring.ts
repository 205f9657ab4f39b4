import type { Device, DeviceInterface } from "../device.ts";
import type { FleetSettings } from "../limits.ts";

/** What an LLDP frame says of the far end, as text; MACs in lower case with colons. */
export interface LldpSeen {
  readonly chassisMac: string | null;
  readonly systemName: string | null;
  readonly portName: string | null;
  readonly portMac: string | null;
}

/** The host interface that a MAC is recorded on: the one with the declared cable, else the only one there is. */
export function interfaceFor(device: Device): DeviceInterface | null {
  const hosts = device.interfaces.filter((i) => !i.managementOnly);
  const cabled = hosts.filter((i) => i.peer !== null);
  if (cabled.length === 1) return cabled[0] ?? null;
  return cabled.length === 0 && hosts.length === 1 ? (hosts[0] ?? null) : null;
}

function sameName(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a !== "" && a.toLowerCase() === b.toLowerCase();
}

/**
 * Why the machine's switch port is not the declared one, or null. It finds wrong cabling; it proves nothing.
 * @see spec/10-protocol.md section 3
 */
export function wiringFault(device: Device, seen: LldpSeen | null, mode: FleetSettings["switchPort"]): string | null {
  if (mode === "report") return null;
  const peer = interfaceFor(device)?.peer ?? null;
  if (peer === null) return "NetBox declares no cable for the machine's interface";
  if (seen === null) return "the machine saw no LLDP frame that can be read";
  const chassis =
    (seen.chassisMac !== null && peer.deviceMacs.includes(seen.chassisMac)) ||
    sameName(seen.systemName, peer.deviceName);
  const port =
    sameName(seen.portName, peer.interfaceName) ||
    sameName(seen.portName, peer.interfaceLabel) ||
    (seen.portMac !== null && seen.portMac === peer.interfaceMac);
  if (chassis && port) return null;
  const at = `${seen.systemName ?? seen.chassisMac ?? "?"} port ${seen.portName ?? seen.portMac ?? "?"}`;
  return `the machine hangs at ${at}; NetBox declares ${peer.deviceName} port ${peer.interfaceName}`;
}
