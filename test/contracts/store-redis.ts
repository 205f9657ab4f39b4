import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectRedis, type RedisStore } from "../../shared/adapters/redis/store.ts";
import { type RedisServer, startRedisServer } from "./redis-server.ts";
import { storeContract } from "./store.ts";

/** What the store on a Redis or Valkey must do, also where the server is frozen, down, restarted empty or full. */
export function redisStoreContract(installed: string): void {
  const servers: RedisServer[] = [];
  const stores: RedisStore[] = [];
  const start = async (extra: readonly string[] = []) => {
    const server = await startRedisServer(installed, extra);
    servers.push(server);
    return server;
  };
  const open = async (server: RedisServer, prefix = "fleetd:") => {
    const store = await connectRedis({ url: server.url, prefix, commandTimeoutMs: 600 });
    stores.push(store);
    return store;
  };
  afterAll(() => {
    for (const store of stores) store.close();
    for (const server of servers) server.stop();
  });

  describe("the store on Redis", () => {
    let shared: RedisStore;
    beforeAll(async () => {
      shared = await open(await start());
    });
    storeContract(async () => ({ store: shared, passMs: (ms) => sleep(ms) }));
  });

  describe("a Redis in trouble", () => {
    let server: RedisServer;
    let store: RedisStore;
    const entry = { deviceId: 1, codeHash: "c", runId: "r", contentType: "t", sealed: Uint8Array.of(1) };
    const unavailable = { name: "PortError", kind: "unavailable", port: "redis" };
    beforeAll(async () => {
      server = await start();
      store = await open(server);
    });
    afterEach(() => server.thaw());
    const wellAgain = () =>
      expect
        .poll(
          () =>
            store.get("x").then(
              () => true,
              () => false,
            ),
          { timeout: 5000 },
        )
        .toBe(true);

    it("frozen: a claim is unavailable, and does nothing when the server goes on", async () => {
      await store.putConfig(entry, 60_000);
      // The server has the scripts: a late EVALSHA would run.
      expect((await store.claimConfig(1, "other", "n", 60_000)).state).toBe("wrong-code");
      expect(await store.setOnce("early", "1", 60_000)).toBe(true);
      server.freeze();
      await expect(store.claimConfig(1, "c", "late", 60_000)).rejects.toMatchObject(unavailable);
      await expect(store.setOnce("late", "1", 60_000)).rejects.toMatchObject(unavailable);
      await sleep(300);
      server.thaw();
      await wellAgain();
      expect(await store.get("late")).toBeNull();
      expect((await store.claimConfig(1, "c", "next", 60_000)).state).toBe("claimed");
    });

    it("down: every call fails at once, and nothing of it runs after the restart", async () => {
      await server.end();
      await sleep(50);
      const begun = performance.now();
      const calls = [
        store.put("down", "1", 60_000),
        store.lock("down", "a", 60_000),
        store.putConfig({ ...entry, deviceId: 2 }, 60_000),
        store.list("", 1),
      ];
      for (const call of await Promise.allSettled(calls)) {
        expect(call).toMatchObject({ status: "rejected", reason: unavailable });
      }
      expect(performance.now() - begun).toBeLessThan(500);
      await server.restart();
      await wellAgain();
      expect(await store.get("down")).toBeNull();
      expect(await store.lock("down", "b", 60_000)).toBe(true);
      expect(await store.claimConfig(2, "c", "n", 60_000)).toEqual({ state: "missing" });
    });

    it("restarted empty: scripts load again by themselves, and the configuration is missing, never served", async () => {
      await store.dropConfig(1, true);
      await store.putConfig(entry, 60_000);
      await server.restart();
      await wellAgain();
      expect(await store.claimConfig(1, "c", "n", 60_000)).toEqual({ state: "missing" });
      expect(await store.putConfig(entry, 60_000)).toBe("stored");
    });

    it("read-only or full: unavailable with the server's word, without the arguments", async () => {
      const full = await start(["--maxmemory", "1", "--maxmemory-policy", "noeviction"]);
      const other = await open(full);
      const put = other.put("k", "very-secret-value", 60_000);
      await expect(put).rejects.toMatchObject({ ...unavailable, message: expect.stringContaining("OOM") });
      await expect(put).rejects.not.toMatchObject({ message: expect.stringContaining("very-secret") });
    });

    it("not there: the start fails in its time, without the password", async () => {
      const start = connectRedis({ url: "redis://:hunter2@127.0.0.1:9/0", connectTimeoutMs: 300 });
      await expect(start).rejects.toMatchObject(unavailable);
      await expect(start).rejects.not.toMatchObject({ message: expect.stringContaining("hunter2") });
    });
  });

  describe("its settings", () => {
    it("tells persistence: off, on, unknown", async () => {
      const plain = await start();
      expect(await (await open(plain)).redisPersistence()).toBe("off");
      const saving = await start(["--save", "60 1"]);
      expect(await (await open(saving)).redisPersistence()).toBe("on");
      const appending = await start(["--appendonly", "yes"]);
      expect(await (await open(appending)).redisPersistence()).toBe("on");
      const closed = await start(["--rename-command", "CONFIG", ""]);
      expect(await (await open(closed)).redisPersistence()).toBe("unknown");
    });

    it("keeps to its prefix, and every key has a TTL", async () => {
      const server = await start();
      const store = await open(server, "lab7:");
      const entry = { deviceId: 5, codeHash: "c", runId: "r", contentType: "t", sealed: Uint8Array.of(1) };
      await store.putConfig(entry, 60_000);
      await store.claimConfig(5, "c", "n", 60_000);
      await store.setOnce("s", "1", 60_000);
      await store.put("p", "1", 60_000);
      await store.lock("l", "o", 60_000);
      const raw = new Redis({ path: new URL(server.url).pathname });
      const keys = (await raw.keys("*")).sort();
      const ttls = await Promise.all(keys.map((key) => raw.pttl(key)));
      raw.disconnect();
      expect(keys).toEqual(["lab7:config:5", "lab7:consumed:5", "lab7:lock:l", "lab7:value:p", "lab7:value:s"]);
      expect(ttls.every((ttl) => ttl > 0)).toBe(true);
    });
  });
}
