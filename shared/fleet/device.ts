/** A device of the fleet's role, as NetBox holds it, translated and unjudged (spec/00, "NetBox"). */
export interface Device {
  readonly id: number;
  readonly name: string;
  readonly serial: string;
  /** planned, active, decommissioning, offline; any other value is left alone. */
  readonly status: string;
  /** NetBox's `last_updated` as it was read: also the precondition of every write (its ETag is made from it). */
  readonly lastUpdated: string;
  readonly fleetClass: string | null;
  readonly desiredAction: string | null;
  readonly installDisk: string | null;
  readonly installDiskSerial: string | null;
  readonly bmcType: string | null;
  /** Address of the BMC without its prefix length. */
  readonly oobAddress: string | null;
  /** The `approved_eks` custom field as it is; judged by `parseEkBindings`. */
  readonly approvedEks: unknown;
  readonly protected: boolean;
  readonly clusterTokenApproved: boolean;
  /** Primary IPv4 (else IPv6) address with prefix length. */
  readonly address: string | null;
  readonly interfaces: readonly DeviceInterface[];
  /** What fleetd's own fields show now. */
  readonly shown: ShownFields;
}

export interface ShownFields {
  readonly attestationVerdict: string | null;
  readonly attestedAt: string | null;
  readonly dbxHash: string | null;
  readonly sbatLevel: string | null;
  readonly fleetRun: unknown;
  readonly fleetIdentity: unknown;
}

export interface DeviceInterface {
  readonly id: number;
  readonly name: string;
  readonly managementOnly: boolean;
  /** Lower case, colons. */
  readonly primaryMac: string | null;
  readonly macs: readonly string[];
  /** The far end of the declared cable. */
  readonly peer: CablePeer | null;
}

export interface CablePeer {
  readonly deviceName: string;
  readonly interfaceName: string;
  readonly interfaceLabel: string | null;
  readonly interfaceMac: string | null;
  /** All MACs of the far device: an LLDP chassis id is one of them. */
  readonly deviceMacs: readonly string[];
}

/** One change-log entry of a device (`/api/core/object-changes/`), newest first in lists. */
export interface ChangeEntry {
  readonly requestId: string;
  readonly atMs: number;
  readonly user: string;
  readonly action: "create" | "update" | "delete";
  readonly before: ChangedValues | null;
  readonly after: ChangedValues | null;
}

export interface ChangedValues {
  readonly status: string | null;
  readonly desiredAction: string | null;
  /** `approved_eks` as it was. */
  readonly approvedEks: unknown;
}

/** The fields that fleetd writes; keys left out stay as they are. */
export interface DevicePatch {
  readonly status?: "planned" | "active" | "offline";
  readonly desiredAction?: null;
  readonly attestationVerdict?: string;
  readonly attestedAt?: string;
  readonly dbxHash?: string | null;
  readonly sbatLevel?: string | null;
  readonly fleetRun?: unknown;
  readonly fleetIdentity?: unknown;
}

export type JournalLevel = "info" | "success" | "warning" | "danger";

/** Name of the device's SPIFFE id, Hardware, Machine and records; ids never change, names do. */
export function objectName(deviceId: number): string {
  return `f${deviceId}`;
}

/** The MACs of a device that are its own (not its management interfaces'). */
export function hostMacs(device: Device): readonly string[] {
  return device.interfaces.filter((i) => !i.managementOnly).flatMap((i) => i.macs);
}

/** The MAC that HookOS booted from: the primary one of the first host interface that has one. */
export function bootMac(device: Device): string | null {
  return device.interfaces.find((i) => !i.managementOnly && i.primaryMac !== null)?.primaryMac ?? null;
}

/** True for a status in which a machine is expected to attest; of any other, its device is left alone (spec/10, 1). */
export function isExpected(status: string): boolean {
  return status === "planned" || status === "active" || status === "decommissioning";
}
