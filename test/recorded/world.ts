import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createAdaptorServer } from "@hono/node-server";
import { attestApp } from "../../functions/attest/app.ts";
import { loadFleet } from "../../shared/engine/records.ts";
import type { FleetSettings } from "../../shared/fleet/limits.ts";
import { type DeviceRecord, recordSchema } from "../../shared/fleet/record.ts";
import { fakeAuthority } from "../fakes/authority.ts";
import { type FakeDeps, fakeDeps, fakeWorld } from "../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../scenarios/fixtures.ts";
import type { RecordedSet } from "./sets.ts";

const certificate = (text: string) => ({ crt: Buffer.from(text).toString("base64"), key: "" });
const TALOS_SECRETS = {
  cluster: { id: "cluster-id", secret: "cluster-secret" },
  trustdinfo: { token: "abcdef.0123456789abcdef" },
  certs: { os: certificate("os ca"), k8s: certificate("k8s ca") },
};

const issuer = fakeAuthority("Lab device issuer");

/** fleetd's attest routes over HTTP, with one planned worker whose class accepts a recorded set's log. */
export class RecordedWorld {
  readonly deps: FakeDeps;
  readonly url: string;
  readonly #close: () => Promise<void>;

  private constructor(deps: FakeDeps, url: string, close: () => Promise<void>) {
    this.deps = deps;
    this.url = url;
    this.#close = close;
  }

  static async start(
    policy: Pick<RecordedSet, "profile" | "secureBoot">,
    ekDigests: readonly string[],
    settings: Partial<FleetSettings> = {},
  ): Promise<RecordedWorld> {
    const directory = mkdtempSync(join(tmpdir(), "fleetd-recorded-"));
    const worker = { ...CLASSES["talos-worker"], profile: "recorded", secureBoot: policy.secureBoot };
    const texts = {
      classes: { "talos-worker": worker },
      classInputs: null,
      ekPins: null,
      profiles: { recorded: policy.profile },
      talosSecrets: TALOS_SECRETS,
    };
    const deps = fakeDeps(
      await fakeWorld({ directory, issuer, policy: texts, settings: { ...SETTINGS, ...settings } }),
    );
    // The fleet's memory begins before the owner's request: an older one would be held.
    await loadFleet(deps.world);
    await sleep(2);
    deps.world.netbox.declare({ ...aDevice(), approvedEks: ekDigests.map((digest) => ({ digest, source: "test" })) });
    const server = createAdaptorServer({ fetch: attestApp(deps).fetch, createServer });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    const { port } = server.address() as AddressInfo;
    return new RecordedWorld(deps, `http://127.0.0.1:${port}`, async () => {
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true });
    });
  }

  /** What fleetd remembers of the device, or null. */
  async record(): Promise<DeviceRecord | null> {
    const stored = await this.deps.world.records.get(aDevice().id);
    return stored === null ? null : recordSchema.parse(JSON.parse(stored.text));
  }

  /** Evidence bundles as they were written, oldest first. */
  bundles(): { readonly device: string; readonly verdict: unknown; readonly profile: string | null }[] {
    return this.deps.world.evidence.map((one) => JSON.parse(one.json));
  }

  close(): Promise<void> {
    return this.#close();
  }
}
