import { PortError } from "../../shared/ports/error.ts";
import type { RecordsPort, RecordWrite, StoredRecord, StoredText } from "../../shared/ports/records.ts";

interface Kept extends StoredRecord {
  readonly uuid: string | null;
}

/** fleetd's memory as a map, with resourceVersions that conflict as ConfigMaps' do. */
export class FakeRecords implements RecordsPort {
  down = false;
  readonly #records = new Map<number, Kept>();
  #fleet: StoredText | null = null;
  #version = 0;

  async all(): Promise<StoredRecord[]> {
    this.#check();
    return [...this.#records.values()].map(plain);
  }

  async open(): Promise<StoredRecord[]> {
    return (await this.all()).filter((one) => one.open);
  }

  async of(deviceIds: readonly number[]): Promise<StoredRecord[]> {
    return (await this.all()).filter((one) => deviceIds.includes(one.deviceId));
  }

  async get(deviceId: number): Promise<StoredRecord | null> {
    this.#check();
    const found = this.#records.get(deviceId);
    return found === undefined ? null : plain(found);
  }

  async byUuid(uuid: string): Promise<StoredRecord[]> {
    this.#check();
    return [...this.#records.values()].filter((one) => one.uuid === uuid).map(plain);
  }

  async byNode(name: string): Promise<StoredRecord[]> {
    this.#check();
    return [...this.#records.values()].filter((one) => one.node === name).map(plain);
  }

  async put(record: RecordWrite, resourceVersion: string | null): Promise<StoredRecord> {
    this.#check();
    const { deviceId, text, uuid, node, open } = record;
    this.#same(this.#records.get(deviceId), resourceVersion);
    const kept = { deviceId, text, uuid, node, open, resourceVersion: this.#next() };
    this.#records.set(deviceId, kept);
    return plain(kept);
  }

  async remove(deviceId: number, resourceVersion: string): Promise<void> {
    this.#check();
    this.#same(this.#records.get(deviceId), resourceVersion);
    this.#records.delete(deviceId);
  }

  async fleet(): Promise<StoredText | null> {
    this.#check();
    return this.#fleet;
  }

  async putFleet(text: string, resourceVersion: string | null): Promise<StoredText> {
    this.#check();
    this.#same(this.#fleet ?? undefined, resourceVersion);
    this.#fleet = { text, resourceVersion: this.#next() };
    return this.#fleet;
  }

  /** Records and fleet as after a lost namespace; resourceVersions go on. */
  loseAll(): void {
    this.#records.clear();
    this.#fleet = null;
  }

  #same(found: StoredText | undefined, resourceVersion: string | null): void {
    if ((found?.resourceVersion ?? null) !== resourceVersion)
      throw new PortError("conflict", "records", "the resourceVersion moved");
  }

  #next(): string {
    this.#version++;
    return String(this.#version);
  }

  #check(): void {
    if (this.down) throw new PortError("unavailable", "records", "no answer");
  }
}

function plain({ deviceId, text, open, node, resourceVersion }: Kept): StoredRecord {
  return { deviceId, text, open, node, resourceVersion };
}
