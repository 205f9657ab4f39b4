import type {
  ChangedValues,
  ChangeEntry,
  Device,
  DeviceInterface,
  DevicePatch,
  JournalLevel,
} from "../../../shared/fleet/device.ts";
import { PortError } from "../../../shared/ports/error.ts";
import type { IdRange, Moved, NetBoxPort, Since } from "../../../shared/ports/netbox.ts";
import { frozen } from "../random.ts";

export const FLEETD_USER = "fleetd";
type Change = Partial<Omit<Device, "id" | "lastUpdated">>;

export interface JournalLine {
  readonly deviceId: number;
  readonly level: JournalLevel;
  readonly text: string;
}

export interface NetBoxCopy {
  readonly rows: ReadonlyMap<number, Device>;
  readonly log: ReadonlyMap<number, readonly ChangeEntry[]>;
  readonly journal: readonly JournalLine[];
}

/** What the simulation is told of each write. */
export interface NetBoxWatch {
  nowMs(): number;
  /** A row changed, or went (null). */
  row(id: number, now: Device | null): void;
  /** fleetd's own write. */
  patched(before: Device, patch: DevicePatch): void;
  journaled(line: JournalLine): void;
}

/** NetBox: rows with a version, whole-row writes, a change log that tells owners from fleetd, JournalEntries. */
export class SimNetBox implements NetBoxPort {
  rows = new Map<number, Device>();
  log = new Map<number, readonly ChangeEntry[]>();
  journal: JournalLine[] = [];
  readonly #watch: NetBoxWatch;
  readonly #hidden = new Map<number, Device>();
  #writes = 0;

  constructor(watch: NetBoxWatch) {
    this.#watch = watch;
  }

  /** One request of an owner, perhaps over many rows: they share its id, as a bulk edit's do. */
  owner(changes: ReadonlyMap<number, Change>): void {
    const request = this.#request();
    for (const [id, change] of changes) {
      const before = this.rows.get(id);
      if (before !== undefined) this.#write({ ...before, ...change }, before, "owner", "update", request);
    }
  }

  declare(device: Omit<Device, "lastUpdated">): void {
    this.#write({ ...device, lastUpdated: "" }, null, "owner", "create", this.#request());
  }

  /** Somebody who had read an older row writes it back whole with a change of his own: NetBox compares with what he read. */
  saveOver(old: Device, change: Change): void {
    if (this.rows.has(old.id)) this.#write({ ...old, ...change }, old, "somebody", "update", this.#request());
  }

  delete(id: number): void {
    this.rows.delete(id);
    this.#watch.row(id, null);
  }

  hide(id: number): void {
    const row = this.rows.get(id);
    if (row === undefined) return;
    this.#hidden.set(id, row);
    this.delete(id);
  }

  /** What was hidden is there again, as it was. */
  show(): void {
    for (const [id, row] of this.#hidden) {
      if (this.rows.has(id)) continue;
      this.rows.set(id, row);
      this.#watch.row(id, row);
    }
    this.#hidden.clear();
  }

  copy(): NetBoxCopy {
    return { rows: new Map(this.rows), log: new Map(this.log), journal: [...this.journal] };
  }

  restore(copy: NetBoxCopy): void {
    const ids = new Set([...this.rows.keys(), ...copy.rows.keys()]);
    this.#hidden.clear();
    this.rows = new Map(copy.rows);
    this.log = new Map(copy.log);
    this.journal = [...copy.journal];
    for (const id of ids) this.#watch.row(id, this.rows.get(id) ?? null);
  }

  async checkVersion(): Promise<string> {
    return "4.7.3";
  }

  async devices(which?: readonly number[] | IdRange): Promise<Device[]> {
    const isWanted = ({ id }: Device) =>
      which === undefined || ("from" in which ? id >= which.from && id <= which.to : which.includes(id));
    return [...this.rows.values()].filter(isWanted);
  }

  async changedSince({ rows: since }: Since): Promise<Moved> {
    const rows = [...this.rows.values()].filter((d) => Date.parse(d.lastUpdated) >= Date.parse(since));
    return { rows: rows.map(({ id, lastUpdated }) => ({ id, lastUpdated })), parts: [] };
  }

  async device(id: number): Promise<Device | null> {
    return this.rows.get(id) ?? null;
  }

  async patchDevice(id: number, patch: DevicePatch, lastUpdated: string): Promise<Device> {
    const device = this.#get(id);
    if (device.lastUpdated !== lastUpdated) throw new PortError("conflict", "netbox", "the device moved");
    const { status, desiredAction, attestedAt, ...others } = patch;
    const shown = { ...others, ...(attestedAt === undefined ? {} : { attestedAt: attestedAt.replace(/Z$/, "000Z") }) };
    const next: Device = {
      ...device,
      ...(status === undefined ? {} : { status }),
      ...(desiredAction === undefined ? {} : { desiredAction }),
      shown: { ...device.shown, ...shown },
    };
    this.#watch.patched(device, patch);
    return this.#write(next, device, FLEETD_USER, "update", this.#request());
  }

  async changes(id: number): Promise<ChangeEntry[]> {
    return [...(this.log.get(id) ?? [])].slice(0, 200);
  }

  async addJournal(id: number, level: JournalLevel, text: string): Promise<void> {
    this.#get(id);
    const line = { deviceId: id, level, text };
    this.journal.push(line);
    this.#watch.journaled(line);
  }

  async gatewaysOf(): Promise<[]> {
    return [];
  }

  async journalHas(id: number, mark: string): Promise<boolean> {
    return this.journal.some((entry) => entry.deviceId === id && entry.text.includes(mark));
  }

  async recordMac(deviceId: number, interfaceId: number, mac: string): Promise<void> {
    const device = this.#get(deviceId);
    const withMac = (one: DeviceInterface): DeviceInterface =>
      one.id === interfaceId ? { ...one, primaryMac: mac, macs: [...new Set([...one.macs, mac])] } : one;
    const next = { ...device, interfaces: device.interfaces.map(withMac) };
    this.#write(next, device, FLEETD_USER, "update", this.#request());
  }

  #request(): string {
    this.#writes++;
    // A run is named by the first twelve digits: no two requests share them.
    return `${String(this.#writes).padStart(8, "0")}-0000-4000-8000-000000000000`;
  }

  #write(next: Device, before: Device | null, user: string, action: ChangeEntry["action"], requestId: string): Device {
    const atMs = this.#watch.nowMs();
    // Microseconds tell two writes of one millisecond apart.
    const micros = String(this.#writes % 1000).padStart(3, "0");
    const lastUpdated = new Date(atMs).toISOString().replace("Z", `${micros}Z`);
    const row = frozen({ ...next, lastUpdated });
    const entry = frozen({ requestId, atMs, user, action, before: before && valuesOf(before), after: valuesOf(row) });
    this.rows.set(row.id, row);
    this.log.set(row.id, [entry, ...(this.log.get(row.id) ?? [])]);
    this.#watch.row(row.id, row);
    return row;
  }

  #get(id: number): Device {
    const device = this.rows.get(id);
    if (device === undefined) throw new PortError("not-found", "netbox", `device ${id}`);
    return device;
  }
}

function valuesOf({ status, desiredAction, approvedEks }: Device): ChangedValues {
  return { status, desiredAction, approvedEks };
}
