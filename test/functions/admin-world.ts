import { mkdtempSync, rmSync } from "node:fs";
import { type RequestOptions, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer, type ServerType } from "@hono/node-server";
import { listeners } from "../../functions/listeners.ts";
import type { AdminDeps } from "../../shared/runtime/deps.ts";
import { Metrics } from "../../shared/runtime/metrics.ts";
import { fakeAuthority } from "../fakes/authority.ts";
import { type FakeDeps, fakeDeps, fakeWorld } from "../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../scenarios/fixtures.ts";

export const ADMIN_TOKEN = "admin-token-of-more-than-32-bytes-0123456789";
export const HOOK_SECRET = "webhook-secret-0123456789";

export type Listener = "device" | "admin" | "metric";

export interface Got {
  readonly status: number;
  readonly type: string;
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  readonly json: () => Record<string, unknown>;
}

export interface Ask extends RequestOptions {
  readonly body?: string | Uint8Array;
  /** Sent in chunks, without a Content-Length. */
  readonly chunked?: boolean;
  readonly token?: string | null;
}

/** All three listeners over real HTTP, on fakes. */
export class AdminWorld {
  readonly deps: FakeDeps & AdminDeps;
  readonly metrics: Metrics;
  readonly #servers: Map<Listener, ServerType>;
  readonly #directory: string;

  private constructor(deps: FakeDeps & AdminDeps, metrics: Metrics, servers: Map<Listener, ServerType>, at: string) {
    this.deps = deps;
    this.metrics = metrics;
    this.#servers = servers;
    this.#directory = at;
  }

  static async start(limits: Partial<AdminDeps["limits"]> = {}): Promise<AdminWorld> {
    const directory = mkdtempSync(join(tmpdir(), "fleetd-admin-"));
    const policy = { classes: CLASSES, classInputs: null, ekPins: null, profiles: {}, talosSecrets: null };
    const settings = { ...SETTINGS, durations: { ...SETTINGS.durations, inventoryCopyMs: 1 } };
    const world = await fakeWorld({ directory, issuer: fakeAuthority("issuer"), policy, settings });
    world.netbox.declare(aDevice());
    const plain = fakeDeps(world);
    const deps = {
      ...plain,
      limits: { ...plain.limits, ...limits },
      adminToken: ADMIN_TOKEN,
      webhookSecret: HOOK_SECRET,
    };
    const metrics = new Metrics();
    const servers = new Map<Listener, ServerType>();
    const apps = listeners(deps, metrics);
    for (const name of ["device", "admin", "metric"] as const) {
      const app = apps[name];
      const server = createAdaptorServer({ fetch: app.fetch });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
      servers.set(name, server);
    }
    return new AdminWorld(deps, metrics, servers, directory);
  }

  /** Where a listener is reached. */
  url(listener: Listener): string {
    return `http://127.0.0.1:${this.#port(listener)}`;
  }

  #port(listener: Listener): number {
    const address = this.#servers.get(listener)?.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  ask(listener: Listener, method: string, path: string, ask: Ask = {}): Promise<Got> {
    const { body, chunked = false, token = ADMIN_TOKEN, headers, ...options } = ask;
    const port = this.#port(listener);
    return new Promise((resolve, reject) => {
      const asked = request({
        host: "127.0.0.1",
        port,
        method,
        path,
        agent: false,
        headers: {
          ...(token === null || listener !== "admin" ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined || chunked ? {} : { "content-length": Buffer.byteLength(body) }),
          ...(headers as Record<string, string>),
        },
        ...options,
      });
      asked.on("error", reject);
      asked.on("response", (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () => {
          const text = Buffer.concat(parts).toString();
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers["content-type"] ?? "",
            header: (name) => response.headers[name]?.toString(),
            text,
            json: () => JSON.parse(text) as Record<string, unknown>,
          });
        });
      });
      if (chunked) asked.write(body ?? "");
      asked.end(chunked ? undefined : body);
    });
  }

  /** All that fleetd keeps or writes outside, as text. */
  async everything(): Promise<string> {
    const { records, store, netbox } = this.deps.world;
    return JSON.stringify([
      await records.all(),
      await records.fleet(),
      await store.list("", 1000),
      await netbox.devices(),
      netbox.journal,
    ]);
  }

  async close(): Promise<void> {
    for (const server of this.#servers.values()) await new Promise((resolve) => server.close(resolve));
    rmSync(this.#directory, { recursive: true });
  }
}
