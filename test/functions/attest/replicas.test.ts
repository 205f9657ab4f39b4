import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { describe, expect, it } from "vitest";
import { attestApp } from "../../../functions/attest/app.ts";
import { SoftTpm } from "../../../infra/lab/tpm/soft-tpm.ts";
import { createMemoryStore } from "../../../shared/adapters/memory/store.ts";
import { connectRedis, type RedisStore } from "../../../shared/adapters/redis/store.ts";
import { systemClock } from "../../../shared/adapters/system/clock.ts";
import { loadFleet, parseRecord } from "../../../shared/engine/records.ts";
import type { StorePort } from "../../../shared/ports/store.ts";
import { findRedisServer, startRedisServer } from "../../contracts/redis-server.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { fakeDeps, fakeWorld } from "../../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../../scenarios/fixtures.ts";
import { Machine } from "./machine.ts";

const REPLICAS = 3;
const withRedis = process.env.FLEETD_TEST_NO_REDIS !== "1";

/** Each replica's own connection to the store that all share. */
async function stores(): Promise<{ of: () => Promise<StorePort>; close: () => Promise<void> }> {
  if (!withRedis) {
    const shared = createMemoryStore(systemClock);
    return { of: async () => shared, close: async () => undefined };
  }
  const binary = findRedisServer();
  if (binary === null) throw new Error("redis-server is not installed; FLEETD_TEST_NO_REDIS=1 leaves Redis out");
  const server = await startRedisServer(binary);
  const open: RedisStore[] = [];
  return {
    of: async () => {
      const store = await connectRedis({ url: server.url, commandTimeoutMs: 10_000 });
      open.push(store);
      return store;
    },
    close: async () => {
      for (const store of open) store.close();
      await server.stop();
    },
  };
}

describe(`handlers hold no state (spec/10): ${REPLICAS} replicas over one ${withRedis ? "Redis" : "store"}`, () => {
  it("answer the steps of one machine in turn, each another one, and one of them alone a spent session", async () => {
    const directory = mkdtempSync(join(tmpdir(), "fleetd-replicas-"));
    const boots = fakeAuthority("Boot authority");
    const certificate = (text: string) => ({ crt: Buffer.from(text).toString("base64"), key: "" });
    const policy = {
      classes: CLASSES,
      classInputs: null,
      ekPins: null,
      profiles: { talos: { name: "talos", bank: "sha256", authorities: [{ pem: boots.pem, for: ["hookos"] }] } },
      talosSecrets: {
        cluster: { id: "cluster-id", secret: "cluster-secret" },
        trustdinfo: { token: "abcdef.0123456789abcdef" },
        certs: { os: certificate("os ca"), k8s: certificate("k8s ca") },
      },
    };
    const world = await fakeWorld({ directory, issuer: fakeAuthority("Device CA"), policy, settings: SETTINGS });
    const deps = fakeDeps(world);
    const shared = await stores();
    const replicas = await Promise.all(
      Array.from({ length: REPLICAS }, async () =>
        attestApp({ ...deps, world: { ...world, store: await shared.of() } }),
      ),
    );
    let asked = 0;
    const answeredBy: number[] = [];
    const server = createAdaptorServer({
      fetch: (request, env) => {
        const next = asked++ % REPLICAS;
        answeredBy.push(next);
        return replicas[next]?.fetch(request, env) ?? new Response(null, { status: 500 });
      },
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    try {
      await loadFleet(world);
      const tpm = new SoftTpm(join(directory, "tpm"));
      const machine = new Machine(tpm, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      await machine.boot({ authority: boots.der, dbCertificates: [boots.der], secureBoot: true });
      const approvedEks = (await tpm.ekDigests()).map((digest) => ({ digest, source: "SCAN:1" }));
      world.netbox.declare({ ...aDevice(), serial: machine.serial, approvedEks });
      const begun = await machine.begun();
      const body = await machine.evidenceBody(begun);
      const judged = await machine.post("evidence", body);
      expect(judged.status).toBe(200);
      const confirmed = await machine.confirm(judged);
      expect(confirmed.body.outcome).toBe("install");
      expect(answeredBy).toEqual([0, 1, 2]);
      const again = await Promise.all([
        machine.post("evidence", body),
        machine.post("evidence", body),
        machine.confirm(judged),
      ]);
      expect(again.map((a) => a.body.code)).toEqual(["session-used", "session-used", "session-used"]);
      const stored = await world.records.get(7);
      expect(stored && parseRecord(stored).config?.state).toBe("unread");
    } finally {
      await new Promise((resolve) => server.close(resolve));
      await shared.close();
      rmSync(directory, { recursive: true });
    }
  });
});
