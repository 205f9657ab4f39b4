import { beforeEach, describe, expect, it } from "vitest";
import type { ConfigEntry, StorePort } from "../../shared/ports/store.ts";

export interface StoreFixture {
  readonly store: StorePort;
  /** Lets time go by: a set clock, or a wait. */
  passMs(ms: number): Promise<void>;
}

const HOUR_MS = 3_600_000;
let nextDevice = Date.now() % 1_000_000;

/** What every store must do; each test has a device and keys of its own. */
export function storeContract(make: () => Promise<StoreFixture>): void {
  let store: StorePort;
  let passMs: StoreFixture["passMs"];
  let entry: ConfigEntry;
  let key: string;
  const claim = (nonce: string, code = "code-1", leaseMs = 60_000) =>
    store.claimConfig(entry.deviceId, code, nonce, leaseMs);
  const settle = (nonce: string, outcome: "renew" | "release" | "finish", ttlMs = HOUR_MS) =>
    store.settleConfig(entry.deviceId, nonce, outcome, ttlMs);
  const states = async (...nonces: string[]) => {
    const answers: string[] = [];
    for (const nonce of nonces) answers.push((await claim(nonce)).state);
    return answers;
  };

  beforeEach(async () => {
    ({ store, passMs } = await make());
    nextDevice++;
    key = `k${nextDevice}:`;
    const sealed = Uint8Array.from({ length: 4096 }, (_, i) => i % 256);
    entry = { deviceId: nextDevice, codeHash: "code-1", runId: "run-1", contentType: "application/yaml", sealed };
  });

  describe("configurations", () => {
    it("gives back every byte to the claim, and nothing before there is one", async () => {
      expect(await claim("a")).toEqual({ state: "missing" });
      expect(await store.putConfig(entry, HOUR_MS)).toBe("stored");
      const { sealed, runId, contentType } = entry;
      expect(await claim("a")).toEqual({ state: "claimed", sealed, runId, contentType });
    });

    it("has one winner of 200 racing claims", async () => {
      await store.putConfig(entry, HOUR_MS);
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => claim(`n${i}`)));
      expect(answers.filter((each) => each.state === "claimed")).toHaveLength(1);
      expect(answers.filter((each) => each.state === "serving")).toHaveLength(199);
    });

    it("takes the same nonce again as the same claim", async () => {
      await store.putConfig(entry, HOUR_MS);
      expect(await states("a", "a", "b")).toEqual(["claimed", "claimed", "serving"]);
    });

    it("says wrong-code for another code, before, while and after", async () => {
      await store.putConfig(entry, HOUR_MS);
      expect((await claim("x", "code-2")).state).toBe("wrong-code");
      expect((await claim("a")).state).toBe("claimed");
      expect((await claim("x", "code-2")).state).toBe("wrong-code");
      await settle("a", "finish");
      expect((await claim("x", "code-2")).state).toBe("wrong-code");
    });

    it("is unread again after a release, and another may claim it", async () => {
      await store.putConfig(entry, HOUR_MS);
      await claim("a");
      expect(await settle("a", "release")).toBe(true);
      expect(await settle("a", "release")).toBe(false);
      const { sealed, runId, contentType } = entry;
      expect(await claim("b")).toEqual({ state: "claimed", sealed, runId, contentType });
    });

    it("is consumed after finish, for every nonce; finish may be repeated", async () => {
      await store.putConfig(entry, HOUR_MS);
      await claim("a");
      expect(await settle("a", "finish")).toBe(true);
      expect(await settle("a", "finish")).toBe(true);
      expect(await states("a", "b")).toEqual(["consumed", "consumed"]);
      expect(await settle("a", "release")).toBe(false);
      expect(await states("c")).toEqual(["consumed"]);
    });

    it("lets only the claim's nonce settle it", async () => {
      await store.putConfig(entry, HOUR_MS);
      expect(await settle("a", "finish")).toBe(false);
      await claim("a");
      for (const outcome of ["renew", "release", "finish"] as const) expect(await settle("b", outcome)).toBe(false);
      expect(await states("a")).toEqual(["claimed"]);
    });

    it("is lost where a lease ran out, then stays consumed", async () => {
      await store.putConfig(entry, HOUR_MS);
      await claim("a", "code-1", 100);
      await passMs(150);
      expect(await settle("a", "renew")).toBe(false);
      expect(await settle("a", "release")).toBe(false);
      expect(await states("b", "b", "a")).toEqual(["lost", "consumed", "consumed"]);
      expect(await store.putConfig({ ...entry, codeHash: "code-2" }, HOUR_MS)).toBe("consumed");
    });

    it("is lost for the claim's own nonce too", async () => {
      await store.putConfig(entry, HOUR_MS);
      await claim("a", "code-1", 100);
      await passMs(150);
      expect(await states("a")).toEqual(["lost"]);
      expect(await settle("a", "finish")).toBe(false);
    });

    it("keeps a claim whose lease is renewed", async () => {
      await store.putConfig(entry, HOUR_MS);
      await claim("a", "code-1", 600);
      for (let i = 0; i < 3; i++) {
        await passMs(300);
        expect(await settle("a", "renew", 600)).toBe(true);
      }
      expect(await states("b")).toEqual(["serving"]);
    });

    it("may finish late, as long as nobody was told that it was lost", async () => {
      await store.putConfig(entry, HOUR_MS);
      await claim("a", "code-1", 100);
      await passMs(150);
      expect(await settle("a", "finish")).toBe(true);
      expect(await states("b")).toEqual(["consumed"]);
    });

    it("replaces an unread one only", async () => {
      const second = { ...entry, codeHash: "code-2", runId: "run-2", sealed: Uint8Array.of(1, 2, 3) };
      await store.putConfig(entry, HOUR_MS);
      expect(await store.putConfig(second, HOUR_MS)).toBe("stored");
      expect((await claim("a")).state).toBe("wrong-code");
      expect(await claim("a", "code-2")).toMatchObject({ state: "claimed", runId: "run-2" });
      expect(await store.putConfig(entry, HOUR_MS)).toBe("serving");
      await settle("a", "finish");
      expect(await store.putConfig(entry, HOUR_MS)).toBe("consumed");
    });

    it("drops the payload whatever its claim, keeps the marker, and takes all for a new provision", async () => {
      await store.putConfig(entry, HOUR_MS);
      await store.dropConfig(entry.deviceId, false);
      expect(await states("a")).toEqual(["missing"]);
      await store.putConfig(entry, HOUR_MS);
      await claim("a");
      await store.dropConfig(entry.deviceId, false);
      // The response that goes on keeps its claim, and nobody is given the payload again.
      expect(await states("a", "b")).toEqual(["missing", "serving"]);
      expect(await settle("a", "renew", HOUR_MS)).toBe(true);
      await settle("a", "finish");
      await store.dropConfig(entry.deviceId, false);
      expect(await states("b")).toEqual(["consumed"]);
      await store.dropConfig(entry.deviceId, true);
      expect(await states("b")).toEqual(["missing"]);
      expect(await store.putConfig({ ...entry, codeHash: "code-3" }, HOUR_MS)).toBe("stored");
      expect((await claim("c", "code-3")).state).toBe("claimed");
    });

    it("drops the payload of a claim whose holder died, and says that it is lost", async () => {
      await store.putConfig(entry, HOUR_MS);
      await claim("a", "code-1", 100);
      await store.dropConfig(entry.deviceId, false);
      await passMs(150);
      expect(await states("b", "b")).toEqual(["lost", "consumed"]);
    });

    it("drops the payload for good: its holder's release does not bring it back", async () => {
      await store.putConfig(entry, HOUR_MS);
      await claim("a");
      await store.dropConfig(entry.deviceId, false);
      expect(await settle("a", "release", 0)).toBe(true);
      expect(await states("b")).toEqual(["missing"]);
      expect(await store.keepConfig(entry.deviceId, HOUR_MS)).toBe(false);
    });

    it("ends with its TTL, which a claim and its release leave alone", async () => {
      await store.putConfig(entry, 800);
      await claim("a");
      await settle("a", "release", 0);
      expect(await states("b")).toEqual(["claimed"]);
      await settle("b", "release", HOUR_MS);
      await passMs(850);
      expect(await states("c")).toEqual(["missing"]);
    });

    it("lives on where it is kept, as long as it is unread", async () => {
      expect(await store.keepConfig(entry.deviceId, HOUR_MS)).toBe(false);
      await store.putConfig(entry, 600);
      expect(await store.keepConfig(entry.deviceId, HOUR_MS)).toBe(true);
      await passMs(650);
      expect(await states("a")).toEqual(["claimed"]);
      expect(await store.keepConfig(entry.deviceId, HOUR_MS)).toBe(false);
      await settle("a", "finish");
      expect(await store.keepConfig(entry.deviceId, HOUR_MS)).toBe(false);
    });

    it("remembers a claim though the payload's TTL ends while it is served", async () => {
      await store.putConfig(entry, 500);
      await claim("a", "code-1", HOUR_MS);
      await passMs(550);
      expect(await states("b")).toEqual(["serving"]);
      expect(await settle("a", "finish")).toBe(true);
      expect(await states("b")).toEqual(["consumed"]);
    });

    it("keeps devices apart", async () => {
      await store.putConfig(entry, HOUR_MS);
      await store.putConfig({ ...entry, deviceId: entry.deviceId + 500_000 }, HOUR_MS);
      await claim("a");
      await settle("a", "finish");
      expect((await store.claimConfig(entry.deviceId + 500_000, "code-1", "b", 1000)).state).toBe("claimed");
    });
  });

  describe("values", () => {
    it("sets a marker once, for the first of many", async () => {
      const first = await Promise.all(
        Array.from({ length: 50 }, (_, i) => store.setOnce(`${key}once`, `${i}`, HOUR_MS)),
      );
      expect(first.filter(Boolean)).toHaveLength(1);
      expect(await store.get(`${key}once`)).toBe(String(first.indexOf(true)));
    });

    it("lets a marker be set again after its TTL", async () => {
      expect(await store.setOnce(`${key}m`, "1", 100)).toBe(true);
      await passMs(150);
      expect(await store.setOnce(`${key}m`, "2", HOUR_MS)).toBe(true);
    });

    it("puts, replaces, gets and forgets", async () => {
      expect(await store.get(`${key}v`)).toBeNull();
      await store.put(`${key}v`, "ä\n\u0000", HOUR_MS);
      expect(await store.get(`${key}v`)).toBe("ä\n\u0000");
      await store.put(`${key}v`, "2", 100);
      expect(await store.get(`${key}v`)).toBe("2");
      await passMs(150);
      expect(await store.get(`${key}v`)).toBeNull();
    });

    it("lists by prefix in the order of keys, at most so many; a prefix is text, not a pattern", async () => {
      for (const name of ["c", "a", "b"]) await store.put(`${key}[*]?${name}`, name, HOUR_MS);
      await store.put(`${key}other`, "x", HOUR_MS);
      expect(await store.list(`${key}[*]?`, 2)).toEqual([
        { key: `${key}[*]?a`, value: "a" },
        { key: `${key}[*]?b`, value: "b" },
      ]);
      expect(await store.list(`${key}nothing`, 10)).toEqual([]);
    });
  });

  describe("locks", () => {
    it("is taken by one, renewed by the same, and free after its TTL", async () => {
      expect(await store.lock(key, "a", 1000)).toBe(true);
      expect(await store.lock(key, "b", 1000)).toBe(false);
      await passMs(550);
      expect(await store.lock(key, "a", 1000)).toBe(true);
      await passMs(550);
      expect(await store.lock(key, "b", 1000)).toBe(false);
      await passMs(500);
      expect(await store.lock(key, "b", 1000)).toBe(true);
    });

    it("is unlocked by its owner only", async () => {
      await store.lock(key, "a", HOUR_MS);
      await store.unlock(key, "b");
      expect(await store.lock(key, "b", HOUR_MS)).toBe(false);
      await store.unlock(key, "a");
      expect(await store.lock(key, "b", HOUR_MS)).toBe(true);
    });
  });
}
