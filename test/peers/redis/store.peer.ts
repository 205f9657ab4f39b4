import { describe } from "vitest";
import { redisFailoverContract } from "../../contracts/store-failover.ts";
import { redisStoreContract } from "../../contracts/store-redis.ts";
import { servesOnceOnRedis } from "../../functions/config/serve-once-redis.ts";
import { installRedis } from "./install.ts";

const { redis, valkey } = await installRedis();

describe.each([
  ["Redis 7", redis],
  ["Valkey 9", valkey],
])("%s", (_name, binary) => {
  redisStoreContract(binary);
  redisFailoverContract(binary);
  servesOnceOnRedis(binary);
});
