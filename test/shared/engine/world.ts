import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryStore } from "../../../shared/adapters/memory/store.ts";
import { loadFleet, parseRecord } from "../../../shared/engine/records.ts";
import type { World } from "../../../shared/engine/world.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import type { DeviceRecord } from "../../../shared/fleet/record.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { FakeBootPlane } from "../../fakes/boot-plane.ts";
import { FakeNetBox } from "../../fakes/netbox.ts";
import { type FakeWorld, fakeWorld } from "../../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../../scenarios/fixtures.ts";

const certificate = (text: string) => ({ crt: Buffer.from(text).toString("base64"), key: "" });
const directory = mkdtempSync(join(tmpdir(), "fleetd-engine-"));
process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
const issuer = fakeAuthority("issuer");
const policy = {
  classes: CLASSES,
  classInputs: null,
  ekPins: null,
  profiles: {},
  talosSecrets: {
    cluster: { id: "cluster-id", secret: "cluster-secret" },
    trustdinfo: { token: "abcdef.0123456789abcdef" },
    certs: { os: certificate("os ca"), k8s: certificate("k8s ca") },
  },
};

/** The fakes on a clock of the test's, and the fleet's memory begun. */
export interface Timed {
  readonly world: FakeWorld;
  pass(ms: number): void;
  record(id?: number): Promise<DeviceRecord>;
}

export async function timedWorld(settings: Partial<World["settings"]> = {}): Promise<Timed> {
  let nowMs = Date.UTC(2026, 10, 29, 12);
  const clock = { nowMs: () => nowMs };
  const made = await fakeWorld({ directory, issuer, policy, settings: { ...SETTINGS, ...settings } });
  const world = Object.assign(made, {
    clock,
    netbox: new FakeNetBox(clock, "fleetd"),
    bootPlane: new FakeBootPlane(clock),
    store: createMemoryStore(clock),
  });
  await loadFleet(world);
  nowMs += 1000;
  return {
    world,
    pass: (ms) => {
      nowMs += ms;
    },
    record: async (id = 7) => {
      const stored = await world.records.get(id);
      if (stored === null) throw new Error(`no record of ${id}`);
      return parseRecord(stored);
    },
  };
}

/** The n-th device of a fleet: nothing of it is another's. */
export function numbered(id: number, change: Partial<Device> = {}): Device {
  const mac = `52:54:00:00:01:${id.toString(16).padStart(2, "0")}`;
  return {
    ...aDevice(),
    id,
    name: `w${id}`,
    serial: `SN${id}`,
    installDiskSerial: `DISK${id}`,
    oobAddress: `10.9.1.${id}`,
    approvedEks: [{ digest: `sha256:${id.toString(16).padStart(64, "0")}`, source: "SCAN:1" }],
    interfaces: [{ id, name: "eno1", managementOnly: false, primaryMac: mac, macs: [mac], peer: null }],
    ...change,
  };
}
