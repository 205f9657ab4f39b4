/** One versioned JSON text of fleetd's memory, with the resourceVersion that its next write must carry. */
export interface StoredText {
  readonly resourceVersion: string;
  readonly text: string;
}

export interface StoredRecord extends StoredText {
  readonly deviceId: number;
}

/**
 * fleetd's memory: ConfigMaps `fleetd-<NetBox id>` (key record.json) and `fleetd-fleet` in Tinkerbell's namespace. The
 * UUID is a label, so that one call finds a record by it. Every method throws PortError; a write whose resourceVersion
 * moved is `conflict`, a create of what exists is `conflict`.
 */
export interface RecordsPort {
  all(): Promise<StoredRecord[]>;
  get(deviceId: number): Promise<StoredRecord | null>;
  byUuid(uuid: string): Promise<StoredRecord[]>;
  /** `resourceVersion` null creates. Returns what is stored now. */
  put(
    record: { deviceId: number; name: string; uuid: string | null; text: string },
    resourceVersion: string | null,
  ): Promise<StoredRecord>;
  remove(deviceId: number, resourceVersion: string): Promise<void>;
  fleet(): Promise<StoredText | null>;
  putFleet(text: string, resourceVersion: string | null): Promise<StoredText>;
}
