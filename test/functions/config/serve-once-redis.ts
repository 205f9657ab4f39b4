import { afterAll, describe, expect, it } from "vitest";
import { connectRedis } from "../../../shared/adapters/redis/store.ts";
import { type RedisServer, startRedisServer } from "../../contracts/redis-server.ts";
import { servesOnce } from "./serve-once.ts";
import { ConfigWorld } from "./world.ts";

/** Exactly once over real HTTP on a Redis or Valkey of that binary, also where it is away for a while. */
export function servesOnceOnRedis(binary: string): void {
  describe("serving once", () => {
    let server: RedisServer | null = null;
    const open = async () => {
      server ??= await startRedisServer(binary);
      const store = await connectRedis({ url: server.url, commandTimeoutMs: 10_000 });
      return { store, close: async () => store.close() };
    };
    afterAll(() => server?.stop());

    servesOnce(open);

    it("Redis away: 503, and nothing is consumed once it is back", async () => {
      const { store, close } = await open();
      const world = await ConfigWorld.start(store);
      const body = await world.mint();
      server?.freeze();
      expect((await world.read()).status).toBe(503);
      server?.thaw();
      await expect.poll(async () => (await world.read()).body === body, { timeout: 10_000 }).toBe(true);
      await world.close();
      await close();
    });
  });
}
