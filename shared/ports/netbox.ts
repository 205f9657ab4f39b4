import type { ChangeEntry, Device, DevicePatch, JournalLevel } from "../fleet/device.ts";
import type { PrefixGateway } from "../fleet/networks.ts";

/** NetBox ids from the first to the last, both included. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
}

/** From which moment on (ISO 8601) something counts as moved: the role's rows, and what belongs to them. */
export interface Since {
  readonly rows: string;
  readonly parts: string;
}

export interface Moved {
  readonly rows: readonly Pick<Device, "id" | "lastUpdated">[];
  /** Devices of which an interface, a MAC, an address or a cable moved; some may be of another role. */
  readonly parts: readonly number[];
}

/**
 * NetBox: the owners' declarations and requests. Every method throws PortError; every listed row is checked again by
 * the adapter for the fleet's role, since NetBox ignores filters that it does not know (facts/netbox.md).
 */
export interface NetBoxPort {
  /** Refuses (`rejected`) a NetBox older than 4.6, which has no ETag. Returns the version. */
  checkVersion(): Promise<string>;
  /** Devices of the role by bulk reads with their interfaces, MACs, cables and addresses: all, a range's, or the named ones. */
  devices(which?: readonly number[] | IdRange): Promise<Device[]>;
  /** What moved at or after the moments: a deleted row, MAC, address or cable is none of it. */
  changedSince(since: Since): Promise<Moved>;
  /** One device, read afresh; null where NetBox says 404 or its role is another. */
  device(id: number): Promise<Device | null>;
  /** Writes the given fields under If-Match of `lastUpdated`; `conflict` on 412: read again and decide again. */
  patchDevice(id: number, patch: DevicePatch, lastUpdated: string): Promise<Device>;
  /** The device's change log, newest first, at most 200 entries. */
  changes(id: number): Promise<ChangeEntry[]>;
  /** Prefixes that hold an address (with or without a prefix length) and have a gateway. */
  gatewaysOf(address: string): Promise<PrefixGateway[]>;
  /** Adds one JournalEntry. The text ends with a mark by which `journalHas` finds it again. */
  addJournal(id: number, level: JournalLevel, text: string): Promise<void>;
  /** Tells whether a JournalEntry of the device holds the mark. */
  journalHas(id: number, mark: string): Promise<boolean>;
  /** Records the MAC object on the interface and makes it primary, each step repeatable. */
  recordMac(deviceId: number, interfaceId: number, mac: string): Promise<void>;
}
