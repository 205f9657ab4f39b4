import { PortError } from "../../../shared/ports/error.ts";
import type { RecordsPort, RecordWrite, StoredRecord, StoredText } from "../../../shared/ports/records.ts";

interface Kept extends StoredRecord {
  readonly uuid: string | null;
}

export interface RecordsCopy {
  readonly kept: ReadonlyMap<number, Kept>;
  readonly fleet: StoredText | null;
}

/** fleetd's memory as ConfigMaps with resourceVersions, which may be lost or go back. */
export class SimRecords implements RecordsPort {
  kept = new Map<number, Kept>();
  fleetText: StoredText | null = null;
  /** Told of each text that is written, and of the one that it replaces. */
  readonly #written: (deviceId: number | null, text: string, before: string | null) => void;
  #version = 0;

  constructor(written: (deviceId: number | null, text: string, before: string | null) => void) {
    this.#written = written;
  }

  copy(): RecordsCopy {
    return { kept: new Map(this.kept), fleet: this.fleetText };
  }

  /** An older copy comes back under new resourceVersions, as a restored object does. */
  restore(copy: RecordsCopy, which: "all" | "fleet" | number): void {
    if (typeof which === "number") {
      const old = copy.kept.get(which);
      if (old === undefined) this.kept.delete(which);
      else this.kept.set(which, { ...old, resourceVersion: this.#next() });
      return;
    }
    this.fleetText = copy.fleet && { ...copy.fleet, resourceVersion: this.#next() };
    if (which === "fleet") return;
    this.kept = new Map([...copy.kept].map(([id, one]) => [id, { ...one, resourceVersion: this.#next() }]));
  }

  async all(): Promise<StoredRecord[]> {
    return [...this.kept.values()].map(plain);
  }

  async open(): Promise<StoredRecord[]> {
    return [...this.kept.values()].filter((one) => one.open).map(plain);
  }

  async of(deviceIds: readonly number[]): Promise<StoredRecord[]> {
    return [...this.kept.values()].filter((one) => deviceIds.includes(one.deviceId)).map(plain);
  }

  async get(deviceId: number): Promise<StoredRecord | null> {
    const found = this.kept.get(deviceId);
    return found === undefined ? null : plain(found);
  }

  async byUuid(uuid: string): Promise<StoredRecord[]> {
    return [...this.kept.values()].filter((one) => one.uuid === uuid).map(plain);
  }

  async byNode(name: string): Promise<StoredRecord[]> {
    return [...this.kept.values()].filter((one) => one.node === name).map(plain);
  }

  async put(record: RecordWrite, resourceVersion: string | null): Promise<StoredRecord> {
    const { deviceId, text, uuid, node } = record;
    const before = this.kept.get(deviceId);
    this.#same(before, resourceVersion);
    const kept = { deviceId, text, uuid, node, open: record.open, resourceVersion: this.#next() };
    this.kept.set(deviceId, kept);
    this.#written(deviceId, text, before?.text ?? null);
    return plain(kept);
  }

  async remove(deviceId: number, resourceVersion: string): Promise<void> {
    this.#same(this.kept.get(deviceId), resourceVersion);
    this.kept.delete(deviceId);
  }

  async fleet(): Promise<StoredText | null> {
    return this.fleetText;
  }

  async putFleet(text: string, resourceVersion: string | null): Promise<StoredText> {
    const before = this.fleetText?.text ?? null;
    this.#same(this.fleetText ?? undefined, resourceVersion);
    this.fleetText = { text, resourceVersion: this.#next() };
    this.#written(null, text, before);
    return this.fleetText;
  }

  #same(found: StoredText | undefined, resourceVersion: string | null): void {
    if ((found?.resourceVersion ?? null) !== resourceVersion)
      throw new PortError("conflict", "records", "the resourceVersion moved");
  }

  #next(): string {
    this.#version++;
    return String(this.#version);
  }
}

function plain({ deviceId, text, open, node, resourceVersion }: Kept): StoredRecord {
  return { deviceId, text, open, node, resourceVersion };
}
