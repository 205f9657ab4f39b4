import { describe } from "vitest";
import { findRedisServer } from "../../contracts/redis-server.ts";
import { servesOnce } from "./serve-once.ts";
import { servesOnceOnRedis } from "./serve-once-redis.ts";

describe("on the memory store", () => servesOnce(async () => ({ store: null, close: async () => undefined })));

const binary = findRedisServer();

describe.runIf(binary !== null)("on Redis", () => servesOnceOnRedis(binary ?? ""));
