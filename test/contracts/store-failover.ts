import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectRedis, type RedisStore } from "../../shared/adapters/redis/store.ts";
import { ConfigWorld } from "../functions/config/world.ts";
import { type RedisPair, startPair } from "./redis-pair.ts";

const HOUR_MS = 3_600_000;
const WELL_MS = 20_000;

/** A Redis with a replica that takes its place: what was used stays used, and where Redis forgot it the record did not. */
export function redisFailoverContract(binary: string): void {
  describe("a Redis that fails over", () => {
    let pair: RedisPair;
    let store: RedisStore;
    const entry = { deviceId: 7, codeHash: "c", runId: "r", contentType: "t", sealed: Uint8Array.of(1, 2, 3) };
    const unavailable = { name: "PortError", kind: "unavailable", port: "redis" };
    const claim = async (nonce: string) => (await store.claimConfig(7, "c", nonce, HOUR_MS)).state;
    const settle = (outcome: "renew" | "release" | "finish") => store.settleConfig(7, "a", outcome, HOUR_MS);
    const wellAgain = () =>
      expect
        .poll(
          () =>
            store.put("well", "1", HOUR_MS).then(
              () => true,
              () => false,
            ),
          { timeout: WELL_MS },
        )
        .toBe(true);

    beforeEach(async () => {
      pair = await startPair(binary);
      store = await connectRedis({ url: pair.url, commandTimeoutMs: 2_500 });
    });
    afterEach(async () => {
      store.close();
      await pair.close();
    });

    it.each(["killed", "frozen"] as const)("%s: a claim that the replica heard of stays its holder's", async (how) => {
      await store.putConfig(entry, HOUR_MS);
      expect(await claim("a")).toBe("claimed");
      await pair.settled();
      await pair.failOver(how);
      await wellAgain();
      expect(await claim("b")).toBe("serving");
      expect(await settle("finish")).toBe(true);
      expect(await claim("b")).toBe("consumed");
      expect(await store.putConfig(entry, HOUR_MS)).toBe("consumed");
    });

    it("a marker that is set once, and a lock, are kept", async () => {
      expect(await store.setOnce("session", "1", HOUR_MS)).toBe(true);
      expect(await store.lock("pass", "a", HOUR_MS)).toBe(true);
      await pair.settled();
      await pair.failOver("killed");
      await wellAgain();
      expect(await store.setOnce("session", "2", HOUR_MS)).toBe(false);
      expect(await store.lock("pass", "b", HOUR_MS)).toBe(false);
      expect(await store.lock("pass", "a", HOUR_MS)).toBe(true);
    });

    it("a call that a frozen primary never answered does nothing when the primary goes on, nor at the new one", async () => {
      await store.putConfig(entry, HOUR_MS);
      // The scripts are known to both: a late EVALSHA would run.
      expect((await store.claimConfig(7, "other", "n", HOUR_MS)).state).toBe("wrong-code");
      await pair.settled();
      pair.freeze();
      await expect(claim("late")).rejects.toMatchObject(unavailable);
      await pair.failOver("frozen");
      const old = await pair.oldPrimary();
      await wellAgain();
      // The old one answers the call that lay in its socket before this one.
      expect(await old.exists("fleetd:config:7", "fleetd:consumed:7")).toBe(1);
      expect(await claim("next")).toBe("claimed");
    });

    it("an address that goes to a replica: reads are answered, every write is unavailable by its word", async () => {
      await store.putConfig(entry, HOUR_MS);
      await pair.settled();
      pair.misdirect();
      await expect
        .poll(
          () =>
            store.get("x").then(
              () => true,
              () => false,
            ),
          { timeout: WELL_MS },
        )
        .toBe(true);
      await expect(store.claimConfig(7, "c", "a", HOUR_MS)).rejects.toMatchObject(unavailable);
      await expect(store.setOnce("m", "1", HOUR_MS)).rejects.toMatchObject({
        ...unavailable,
        message: expect.stringMatching(/READONLY/),
      });
      await expect(store.lock("l", "a", HOUR_MS)).rejects.toMatchObject(unavailable);
    });

    it("flushed: the configuration is missing, its claim is forgotten, and it may be put again", async () => {
      await store.putConfig(entry, HOUR_MS);
      await claim("a");
      await pair.flush();
      expect(await claim("b")).toBe("missing");
      expect(await settle("finish")).toBe(false);
      expect(await store.putConfig(entry, HOUR_MS)).toBe("stored");
    });

    describe("the configuration over HTTP, whose claim is in the record too", () => {
      let world: ConfigWorld;
      const served = () => expect.poll(async () => (await world.record()).config?.state).toBe("served");
      const again = () => expect.poll(async () => (await world.read()).status, { timeout: WELL_MS });
      beforeEach(async () => {
        world = await ConfigWorld.start(store);
      });
      afterEach(() => world.close());

      it("is never served twice, though the replica is of a time before it was read", async () => {
        const body = await world.mint();
        await pair.settled();
        await pair.cut();
        expect(await world.read()).toMatchObject({ status: 200, body });
        await served();
        await pair.failOver("killed");
        await wellAgain();
        // The old replica says that nobody has claimed it.
        await again().toBe(410);
        expect((await world.record()).config?.state).toBe("served");
      });

      it("is served once where the primary went before anybody read it", async () => {
        const body = await world.mint();
        await pair.settled();
        await pair.failOver("killed");
        await wellAgain();
        const answers = await Promise.all(Array.from({ length: 20 }, () => world.read()));
        expect(answers.filter((answer) => answer.status === 200).map((answer) => answer.body)).toEqual([body]);
        await served();
      });

      it("flushed after it was served: gone stays gone", async () => {
        await world.mint();
        expect((await world.read()).status).toBe(200);
        await served();
        await pair.flush();
        expect((await world.read()).status).toBe(410);
      });

      it("flushed before it was read: nobody gets it, and nothing is consumed", async () => {
        await world.mint();
        await pair.flush();
        expect((await world.read()).status).not.toBe(200);
        expect((await world.record()).config?.state).toBe("unread");
      });
    });
  });
}
