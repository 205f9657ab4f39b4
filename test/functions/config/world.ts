import { mkdtempSync, rmSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { configApp } from "../../../functions/config/app.ts";
import { systemEntropy } from "../../../shared/adapters/system/entropy.ts";
import { codeHash, SEAL_RANDOM_BYTES, seal } from "../../../shared/attest/seal.ts";
import { parseRecord, storeRecord } from "../../../shared/engine/records.ts";
import { approvedDigests } from "../../../shared/fleet/binding.ts";
import { freezeClass } from "../../../shared/fleet/class.ts";
import type { Durations } from "../../../shared/fleet/limits.ts";
import { type DeviceRecord, newRecord, type Run, unreadConfig } from "../../../shared/fleet/record.ts";
import type { StorePort } from "../../../shared/ports/store.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { type FakeDeps, fakeDeps, fakeWorld } from "../../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../../scenarios/fixtures.ts";

export const UUID = "4c4c4544-0034-4410-8043-b7c04f335131";
export const CODE = "ABCDEFGHIJKLMNOPQRSTUVWXY2";
export const RUN = "fleetd-7-provision-1";
export const TOKEN = { id: "abc123", secret: "0123456789abcdef" };

/** A provision of device 7 whose Workflow waits for the machine. */
export function aRun(change: Partial<Run> = {}): Run {
  const device = aDevice();
  return {
    kind: "provision",
    request: { id: "r1", atMs: 1 },
    attempt: 1,
    name: RUN,
    deviceName: null,
    uuid: UUID,
    phase: "running",
    class: freezeClass("talos-worker", CLASSES, null),
    disk: { device: "nvme0n1", serial: "S4XYNX0R123456" },
    serial: device.serial,
    eks: [...approvedDigests(device.approvedEks)],
    mac: "52:54:00:00:00:07",
    bootMode: false,
    startedAtMs: 1,
    enabledAtMs: 1,
    begunAtMs: 1,
    diskBegun: true,
    timeoutMs: 1,
    terminal: null,
    result: null,
    verdictAtMs: 1,
    actionsChecked: true,
    ...change,
  };
}

/** The record of that device with an unread configuration under CODE. */
export function aRecord(nowMs: number): DeviceRecord {
  return {
    ...newRecord(7, "w1"),
    uuid: UUID,
    run: aRun(),
    config: unreadConfig(codeHash(CODE), RUN, nowMs),
    token: { id: TOKEN.id, expiresAtMs: null, csr: null, contended: false, deletedAtMs: null },
  };
}

export interface Reading {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** The configuration routes over real HTTP, on fakes and a store of one's choice. */
export class ConfigWorld {
  readonly deps: FakeDeps;
  readonly port: number;
  readonly #close: () => Promise<void>;

  private constructor(deps: FakeDeps, port: number, close: () => Promise<void>) {
    this.deps = deps;
    this.port = port;
    this.#close = close;
  }

  static async start(store: StorePort | null, durations: Partial<Durations> = {}): Promise<ConfigWorld> {
    const directory = mkdtempSync(join(tmpdir(), "fleetd-config-"));
    const settings = { ...SETTINGS, durations: { ...SETTINGS.durations, ...durations } };
    const policy = { classes: CLASSES, classInputs: null, ekPins: null, profiles: {}, talosSecrets: null };
    const world = await fakeWorld({ directory, issuer: fakeAuthority("issuer"), policy, settings });
    const deps = fakeDeps(store === null ? world : Object.assign(world, { store }));
    world.netbox.declare(aDevice());
    const server = createAdaptorServer({ fetch: configApp(deps).fetch });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    return new ConfigWorld(deps, (server.address() as AddressInfo).port, async () => {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true });
    });
  }

  /** Puts a body of so many bytes under CODE, in record and store. */
  async mint(bodyBytes = 2000, change: Partial<DeviceRecord> = {}): Promise<string> {
    const { world } = this.deps;
    const body = "x".repeat(bodyBytes);
    await storeRecord(world.records, { ...aRecord(world.clock.nowMs()), ...change }, null);
    const plain = new TextEncoder().encode(JSON.stringify({ token: TOKEN, body }));
    const context = { deviceId: 7, runId: RUN, uuid: UUID, contentType: "application/yaml" };
    const sealed = seal(CODE, plain, context, systemEntropy.bytes(SEAL_RANDOM_BYTES));
    const { contentType } = context;
    await world.store.dropConfig(7, true);
    await world.store.putConfig({ deviceId: 7, codeHash: codeHash(CODE), runId: RUN, contentType, sealed }, 86_400_000);
    return body;
  }

  async record(): Promise<DeviceRecord> {
    const stored = await this.deps.world.records.get(7);
    if (stored === null) throw new Error("no record");
    return parseRecord(stored);
  }

  /** A request from an address of one's choice; the answer is read whole. */
  read(query = `uuid=${UUID}&code=${CODE}`, options: RequestOptions = {}): Promise<Reading> {
    return new Promise((resolve, reject) => {
      this.open(query, options, reject).on("response", (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(parts).toString(),
          }),
        );
      });
    });
  }

  /** A reader that takes the head and so many bytes, then closes without reading on. */
  breakOff(localAddress = "127.0.0.1"): Promise<void> {
    return new Promise((resolve, reject) => {
      const asked = this.open(undefined, { localAddress }, reject);
      asked.on("response", (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response.pause();
        setTimeout(() => {
          asked.destroy();
          resolve();
        }, 50);
      });
    });
  }

  open(query = `uuid=${UUID}&code=${CODE}`, options: RequestOptions = {}, failed: (e: Error) => void): ClientRequest {
    const asked = request({
      host: "127.0.0.1",
      port: this.port,
      path: `/talos/config?${query}`,
      agent: false,
      ...options,
    });
    asked.on("error", failed);
    asked.end();
    return asked;
  }

  close(): Promise<void> {
    return this.#close();
  }
}
