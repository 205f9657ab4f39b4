/** One versioned JSON text of fleetd's memory, with the resourceVersion that its next write must carry. */
export interface StoredText {
  readonly resourceVersion: string;
  readonly text: string;
}

export interface StoredRecord extends StoredText {
  readonly deviceId: number;
  /** A pass has to look at the device, whatever NetBox's rows say. */
  readonly open: boolean;
  /** As its label says it. */
  readonly node: string | null;
}

export interface RecordWrite {
  readonly deviceId: number;
  readonly name: string;
  readonly uuid: string | null;
  /** The name that the device's Node was installed with. */
  readonly node: string | null;
  readonly open: boolean;
  readonly text: string;
}

/**
 * fleetd's memory: ConfigMaps `fleetd-<NetBox id>` (key record.json) and `fleetd-fleet` in Tinkerbell's namespace. The
 * UUID, the Node's name and `open` are labels, so that one call finds records by them. Every method throws PortError; a write whose resourceVersion
 * moved is `conflict`, a create of what exists is `conflict`.
 */
export interface RecordsPort {
  all(): Promise<StoredRecord[]>;
  /** The open ones alone. */
  open(): Promise<StoredRecord[]>;
  /** Those of the named devices. */
  of(deviceIds: readonly number[]): Promise<StoredRecord[]>;
  get(deviceId: number): Promise<StoredRecord | null>;
  byUuid(uuid: string): Promise<StoredRecord[]>;
  byNode(name: string): Promise<StoredRecord[]>;
  /** `resourceVersion` null creates. Returns what is stored now. */
  put(record: RecordWrite, resourceVersion: string | null): Promise<StoredRecord>;
  remove(deviceId: number, resourceVersion: string): Promise<void>;
  fleet(): Promise<StoredText | null>;
  putFleet(text: string, resourceVersion: string | null): Promise<StoredText>;
}
