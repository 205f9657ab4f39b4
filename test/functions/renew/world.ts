import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createAdaptorServer } from "@hono/node-server";
import type { Hono } from "hono";
import { listeners } from "../../../functions/listeners.ts";
import { passForDevice } from "../../../shared/engine/pass.ts";
import { loadFleet, updateRecord } from "../../../shared/engine/records.ts";
import type { FleetClass } from "../../../shared/fleet/class.ts";
import type { FleetSettings } from "../../../shared/fleet/limits.ts";
import { type DeviceRecord, recordSchema } from "../../../shared/fleet/record.ts";
import type { AdminDeps } from "../../../shared/runtime/deps.ts";
import { Metrics } from "../../../shared/runtime/metrics.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { type FakeDeps, fakeDeps, fakeWorld } from "../../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../../scenarios/fixtures.ts";
import type { NodeSite } from "./node.ts";

export const ADMIN_TOKEN = "admin-token-of-more-than-32-bytes-0123456789";
export const ID = aDevice().id;

/** Who signs what boots: HookOS, the installed system, and somebody else. */
export const SIGNERS = {
  hookos: fakeAuthority("HookOS signer"),
  os: fakeAuthority("System signer"),
  foreign: fakeAuthority("Somebody's signer"),
} as const;

const issuer = fakeAuthority("Lab device issuer");
const certificate = (text: string) => ({ crt: Buffer.from(text).toString("base64"), key: "" });
const TALOS_SECRETS = {
  cluster: { id: "cluster-id", secret: "cluster-secret" },
  trustdinfo: { token: "abcdef.0123456789abcdef" },
  certs: { os: certificate("os ca"), k8s: certificate("k8s ca") },
};
const PROFILES = {
  apart: {
    name: "apart",
    bank: "sha256",
    authorities: [
      { pem: SIGNERS.hookos.pem, for: ["hookos"] },
      { pem: SIGNERS.os.pem, for: ["os"] },
    ],
  },
  // One key signs both, so that the command line alone tells them apart.
  marked: {
    name: "marked",
    bank: "sha256",
    authorities: [{ pem: SIGNERS.hookos.pem, for: ["hookos", "os"] }],
    hookosMarker: "fleet_stage=hookos",
    osMarker: "fleet_stage=os",
  },
};

export interface WorldOptions {
  readonly eks: readonly string[];
  readonly profile?: keyof typeof PROFILES;
  readonly class?: Partial<FleetClass>;
  readonly durations?: Partial<FleetSettings["durations"]>;
  readonly limits?: Partial<AdminDeps["limits"]>;
}

async function served(app: Hono): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** fleetd's device and admin listeners over HTTP, with one planned worker; peers are fakes, records and protocol are not. */
export class RenewWorld implements NodeSite {
  readonly signers = SIGNERS;
  readonly hookosCommandLine = "fleet_stage=hookos";
  readonly osCommandLine = "talos.platform=metal fleet_stage=os";
  readonly lldp = null;
  readonly deps: FakeDeps & AdminDeps;
  readonly device: string;
  readonly admin: string;
  readonly #close: () => Promise<void>;

  private constructor(deps: FakeDeps & AdminDeps, device: string, admin: string, close: () => Promise<void>) {
    this.deps = deps;
    this.device = device;
    this.admin = admin;
    this.#close = close;
  }

  static async start(options: WorldOptions): Promise<RenewWorld> {
    const directory = mkdtempSync(join(tmpdir(), "fleetd-renew-world-"));
    const cls = { ...CLASSES["talos-worker"], profile: options.profile ?? "apart", ...options.class };
    const policy = {
      classes: { "talos-worker": cls, other: { ...cls, profile: null } },
      classInputs: null,
      ekPins: null,
      profiles: PROFILES,
      talosSecrets: TALOS_SECRETS,
    };
    // The copy of the inventory ends at once, and a node may renew as often as a test wants.
    const durations = { ...SETTINGS.durations, inventoryCopyMs: 1, renewIntervalMs: 0, ...options.durations };
    const world = await fakeWorld({ directory, issuer, policy, settings: { ...SETTINGS, durations } });
    await loadFleet(world);
    await sleep(2);
    world.netbox.declare({ ...aDevice(), approvedEks: options.eks.map((digest) => ({ digest, source: "SCAN:1" })) });
    const plain = fakeDeps(world);
    const limits = { ...plain.limits, ...options.limits };
    const deps = { ...plain, limits, adminToken: ADMIN_TOKEN, webhookSecret: "webhook-secret-0123456789" };
    const apps = listeners(deps, new Metrics());
    const device = await served(apps.device);
    const admin = await served(apps.admin);
    return new RenewWorld(deps, device.url, admin.url, async () => {
      await device.close();
      await admin.close();
      rmSync(directory, { recursive: true });
    });
  }

  async record(): Promise<DeviceRecord> {
    const stored = await this.deps.world.records.get(ID);
    if (stored === null) throw new Error("no record");
    return recordSchema.parse(JSON.parse(stored.text));
  }

  async uuid(): Promise<string> {
    return (await this.record()).uuid ?? "";
  }

  async change(change: Partial<DeviceRecord>): Promise<void> {
    await updateRecord(this.deps.world, aDevice(), (record) => ({ ...record, ...change }));
  }

  async pass(): Promise<void> {
    await passForDevice(this.deps.world, ID, "pass");
  }

  /** Passes until NetBox says active: the configuration was served. */
  async becomesActive(): Promise<void> {
    for (let tries = 0; this.deps.world.netbox.row(ID).status !== "active"; tries++) {
      if (tries > 40) throw new Error(`not active: ${JSON.stringify((await this.record()).conditions)}`);
      await this.pass();
      await sleep(10);
    }
    await this.pass();
  }

  /** A Node of the installed worker in the cluster. */
  joinCluster(): void {
    const node = { name: aDevice().name, uid: "node-uid", unschedulable: false, taints: [], annotations: {} };
    this.deps.world.cluster.nodeList = [{ ...node, createdAtMs: Date.now() } as never];
  }

  journal(): string[] {
    return this.deps.world.netbox.journal.map((line) => line.text);
  }

  bundles(): Readonly<Record<string, unknown>>[] {
    return this.deps.world.evidence.map((one) => JSON.parse(one.json));
  }

  close(): Promise<void> {
    return this.#close();
  }
}
