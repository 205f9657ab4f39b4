import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectRedis, type RedisStore } from "../../shared/adapters/redis/store.ts";
import { findRedisServer, type RedisServer, startRedisServer } from "./redis-server.ts";
import { storesDiffer } from "./store-differential.ts";

const SEQUENCES = 60;
const CALLS = 120;

// Redis' absence is told by store.test.ts, which fails then.
describe.runIf(findRedisServer() !== null)("the store in memory and Redis' scripts", () => {
  let server: RedisServer;
  let store: RedisStore;
  let raw: Redis;

  beforeAll(async () => {
    server = await startRedisServer(findRedisServer() ?? "");
    store = await connectRedis({ url: server.url, commandTimeoutMs: 5_000 });
    raw = new Redis({ path: new URL(server.url).pathname });
  });
  afterAll(() => {
    raw.disconnect();
    store.close();
    server.stop();
  });

  it(`answer the same to ${SEQUENCES} × ${CALLS} random calls, with leases and TTLs running out`, async () => {
    const first = Number(process.env.FLEETD_SEED ?? 1);
    for (let seed = first; seed < first + SEQUENCES; seed++)
      expect({ seed, differ: await storesDiffer(seed, CALLS, { store, raw }) }).toEqual({ seed, differ: null });
  }, 60_000);

  it("the comparison itself sees a difference of one answer", async () => {
    const wrong = { ...store, keepConfig: async () => true };
    const found: unknown[] = [];
    for (let seed = 1; seed <= 5; seed++) found.push(await storesDiffer(seed, CALLS, { store: wrong, raw }));
    expect(found.filter((one) => one !== null)).not.toEqual([]);
  });
});
