import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../shared/adapters/memory/store.ts";
import { findRedisServer } from "./redis-server.ts";
import { storeContract } from "./store.ts";
import { redisFailoverContract } from "./store-failover.ts";
import { redisStoreContract } from "./store-redis.ts";

describe("the store in memory", () => {
  storeContract(async () => {
    let nowMs = 1_800_000_000_000;
    return {
      store: createMemoryStore({ nowMs: () => nowMs }),
      passMs: async (ms) => {
        nowMs += ms;
      },
    };
  });
});

it("the store in memory does not keep what is over", async () => {
  let nowMs = 0;
  const store = createMemoryStore({ nowMs: () => nowMs });
  const before = process.memoryUsage().heapUsed;
  const big = "x".repeat(1000);
  for (let i = 0; i < 200_000; i++) {
    nowMs += 10;
    await store.put(`session ${i}`, `${big}${i}`, 1000);
  }
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
  expect(await store.list("session", 1000)).toHaveLength(100);
});

const binary = findRedisServer();
if (process.env.FLEETD_TEST_NO_REDIS === "1") {
  process.stderr.write("FLEETD_TEST_NO_REDIS=1: the store's contract runs in memory only, not on Redis\n");
} else if (binary === null) {
  it("needs redis-server or valkey-server on PATH (FLEETD_TEST_NO_REDIS=1 leaves Redis out)", () => {
    expect.fail("neither redis-server nor valkey-server was found");
  });
} else {
  redisStoreContract(binary);
  redisFailoverContract(binary);
}
