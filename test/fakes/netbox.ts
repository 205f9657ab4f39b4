import type {
  ChangedValues,
  ChangeEntry,
  Device,
  DeviceInterface,
  DevicePatch,
  JournalLevel,
} from "../../shared/fleet/device.ts";
import type { PrefixGateway } from "../../shared/fleet/networks.ts";
import { PortError } from "../../shared/ports/error.ts";
import type { IdRange, Moved, NetBoxPort, Since } from "../../shared/ports/netbox.ts";
import type { ClockPort } from "../../shared/ports/system.ts";

type OwnerChange = Partial<Omit<Device, "id" | "lastUpdated">>;

/** NetBox in memory: rows with a version, a change log that tells owners from fleetd, and JournalEntries. */
export class FakeNetBox implements NetBoxPort {
  readonly journal: { readonly deviceId: number; readonly level: JournalLevel; readonly text: string }[] = [];
  /** Set: every call fails as if NetBox were away. */
  down = false;
  /** Prefixes with a gateway, as its owner has them. */
  gateways: PrefixGateway[] = [];
  readonly #clock: ClockPort;
  readonly #user: string;
  readonly #devices = new Map<number, Device>();
  readonly #changes = new Map<number, ChangeEntry[]>();
  #version = 0;
  #lastMicros = 0;

  constructor(clock: ClockPort, fleetdUser: string) {
    this.#clock = clock;
    this.#user = fleetdUser;
  }

  /** An owner declares a device, which is a change-log entry of its own. */
  declare(device: Omit<Device, "lastUpdated">): void {
    this.#write({ ...device, lastUpdated: "" }, null, "owner", "create");
  }

  /** An owner changes a row. */
  owner(id: number, change: OwnerChange): void {
    const device = this.#get(id);
    this.#write({ ...device, ...change }, device, "owner", "update");
  }

  row(id: number): Device {
    return this.#get(id);
  }

  async checkVersion(): Promise<string> {
    return this.#answer("4.7.3");
  }

  async devices(which?: readonly number[] | IdRange): Promise<Device[]> {
    const isWanted = ({ id }: Device) =>
      which === undefined || ("from" in which ? id >= which.from && id <= which.to : which.includes(id));
    return this.#answer([...this.#devices.values()].filter(isWanted));
  }

  async changedSince(since: Since): Promise<Moved> {
    const moved = [...this.#devices.values()].filter((d) => d.lastUpdated >= since.rows);
    return this.#answer({ rows: moved.map(({ id, lastUpdated }) => ({ id, lastUpdated })), parts: [] });
  }

  async device(id: number): Promise<Device | null> {
    return this.#answer(this.#devices.get(id) ?? null);
  }

  async patchDevice(id: number, patch: DevicePatch, lastUpdated: string): Promise<Device> {
    this.#answer(null);
    const device = this.#get(id);
    if (device.lastUpdated !== lastUpdated) throw new PortError("conflict", "netbox", "the device moved");
    const { status, desiredAction, attestedAt, ...others } = patch;
    // NetBox keeps a time's fraction with six digits.
    const shown = { ...others, ...(attestedAt === undefined ? {} : { attestedAt: attestedAt.replace(/Z$/, "000Z") }) };
    const next: Device = {
      ...device,
      ...(status === undefined ? {} : { status }),
      ...(desiredAction === undefined ? {} : { desiredAction }),
      shown: { ...device.shown, ...shown },
    };
    return this.#write(next, device, this.#user, "update");
  }

  async changes(id: number): Promise<ChangeEntry[]> {
    return this.#answer([...(this.#changes.get(id) ?? [])]);
  }

  /** Others than the address's too: who asks checks. */
  async gatewaysOf(_address: string): Promise<PrefixGateway[]> {
    return this.#answer(this.gateways);
  }

  async addJournal(id: number, level: JournalLevel, text: string): Promise<void> {
    this.#answer(null);
    this.journal.push({ deviceId: id, level, text });
  }

  async journalHas(id: number, mark: string): Promise<boolean> {
    return this.#answer(this.journal.some((entry) => entry.deviceId === id && entry.text.includes(mark)));
  }

  async recordMac(deviceId: number, interfaceId: number, mac: string): Promise<void> {
    this.#answer(null);
    const device = this.#get(deviceId);
    const withMac = (one: DeviceInterface): DeviceInterface =>
      one.id === interfaceId ? { ...one, primaryMac: mac, macs: [...new Set([...one.macs, mac])] } : one;
    this.#write({ ...device, interfaces: device.interfaces.map(withMac) }, device, this.#user, "update");
  }

  #write(next: Device, before: Device | null, user: string, action: ChangeEntry["action"]): Device {
    this.#version++;
    this.#lastMicros = Math.max(this.#lastMicros + 1, this.#clock.nowMs() * 1000);
    const lastUpdated = isoMicros(this.#lastMicros);
    const stored = structuredClone({ ...next, lastUpdated });
    this.#devices.set(stored.id, stored);
    const entry: ChangeEntry = {
      // A run is named by the first twelve digits: no two requests share them.
      requestId: `${String(this.#version).padStart(8, "0")}-0000-4000-8000-000000000000`,
      atMs: this.#clock.nowMs(),
      user,
      action,
      before: before && valuesOf(before),
      after: valuesOf(stored),
    };
    this.#changes.set(stored.id, [entry, ...(this.#changes.get(stored.id) ?? [])]);
    return stored;
  }

  #get(id: number): Device {
    const device = this.#devices.get(id);
    if (device === undefined) throw new PortError("not-found", "netbox", `device ${id}`);
    return device;
  }

  #answer<T>(value: T): T {
    if (this.down) throw new PortError("unavailable", "netbox", "no answer");
    return structuredClone(value);
  }
}

/** ISO 8601 with six digits, as NetBox writes `last_updated`. */
function isoMicros(micros: number): string {
  const seconds = new Date(Math.floor(micros / 1_000_000) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros % 1_000_000).padStart(6, "0")}Z`;
}

function valuesOf({ status, desiredAction, approvedEks }: Device): ChangedValues {
  return { status, desiredAction, approvedEks };
}
