import type { ConfigEntry, StorePort } from "../../ports/store.ts";
import type { ClockPort } from "../../ports/system.ts";

/** What is left of a claim: it outlives the payload and alone says that a code was used. */
interface Claim {
  readonly codeHash: string;
  readonly nonce: string;
  readonly state: "serving" | "finished" | "lost";
  readonly leaseEndMs: number;
}
interface Held<T> {
  readonly value: T;
  readonly endMs: number;
}

const SWEEP_EVERY_WRITES = 1024;
const CONSUMED_TTL_MS = 400 * 24 * 3600 * 1000;

/** Values with an end, for one process. */
class Expiring<T> {
  readonly #held = new Map<string, Held<T>>();
  readonly #clock: ClockPort;
  #writes = 0;

  constructor(clock: ClockPort) {
    this.#clock = clock;
  }

  get(key: string): T | null {
    const held = this.#held.get(key);
    if (held === undefined) return null;
    if (held.endMs > this.#clock.nowMs()) return held.value;
    this.#held.delete(key);
    return null;
  }

  set(key: string, value: T, ttlMs: number): void {
    // What nobody asks for again must not stay for ever.
    if (++this.#writes % SWEEP_EVERY_WRITES === 0) this.keys();
    this.#held.set(key, { value, endMs: this.#clock.nowMs() + ttlMs });
  }

  /** The same value with another end; false where it is gone. */
  keep(key: string, ttlMs: number): boolean {
    const value = this.get(key);
    if (value !== null) this.set(key, value, ttlMs);
    return value !== null;
  }

  delete(key: string): void {
    this.#held.delete(key);
  }

  keys(): string[] {
    return [...this.#held.keys()].filter((key) => this.get(key) !== null).sort();
  }
}

/** The store in one process's memory: for one process only, and a restart loses it. Semantics as of Redis by Lua. */
export function createMemoryStore(clock: ClockPort): StorePort {
  const configs = new Expiring<ConfigEntry>(clock);
  const claims = new Expiring<Claim>(clock);
  const values = new Expiring<string>(clock);
  const locks = new Expiring<string>(clock);
  const serving = (claim: Claim) => claim.state === "serving" && claim.leaseEndMs > clock.nowMs();

  return {
    async putConfig(entry, ttlMs) {
      const claim = claims.get(`${entry.deviceId}`);
      if (claim !== null) return serving(claim) ? "serving" : "consumed";
      configs.set(`${entry.deviceId}`, { ...entry, sealed: entry.sealed.slice() }, ttlMs);
      return "stored";
    },

    async claimConfig(deviceId, codeHash, nonce, leaseMs) {
      const key = `${deviceId}`;
      const claim = claims.get(key);
      const config = configs.get(key);
      const known = claim?.codeHash ?? config?.codeHash;
      if (known === undefined) return { state: "missing" };
      if (known !== codeHash) return { state: "wrong-code" };
      if (claim !== null && claim.state !== "serving") return { state: "consumed" };
      if (claim !== null && !serving(claim)) {
        claims.set(key, { ...claim, state: "lost" }, CONSUMED_TTL_MS);
        configs.delete(key);
        return { state: "lost" };
      }
      if (claim !== null && claim.nonce !== nonce) return { state: "serving" };
      if (config === null) return { state: "missing" };
      const leaseEndMs = clock.nowMs() + leaseMs;
      claims.set(key, { codeHash, nonce, state: "serving", leaseEndMs }, CONSUMED_TTL_MS);
      const { sealed, runId, contentType } = config;
      return { state: "claimed", sealed: sealed.slice(), runId, contentType };
    },

    async settleConfig(deviceId, nonce, outcome, ttlMs) {
      const key = `${deviceId}`;
      const claim = claims.get(key);
      if (claim === null || claim.nonce !== nonce || claim.state === "lost") return false;
      if (outcome === "finish") {
        claims.set(key, { ...claim, state: "finished" }, ttlMs);
        configs.delete(key);
        return true;
      }
      if (!serving(claim)) return false;
      if (outcome === "renew") claims.set(key, { ...claim, leaseEndMs: clock.nowMs() + ttlMs }, CONSUMED_TTL_MS);
      else claims.delete(key);
      return true;
    },

    async keepConfig(deviceId, ttlMs) {
      return claims.get(`${deviceId}`) === null && configs.keep(`${deviceId}`, ttlMs);
    },

    async dropConfig(deviceId, consumed) {
      const key = `${deviceId}`;
      if (consumed) claims.delete(key);
      configs.delete(key);
    },

    async setOnce(key, value, ttlMs) {
      if (values.get(key) !== null) return false;
      values.set(key, value, ttlMs);
      return true;
    },

    async put(key, value, ttlMs) {
      values.set(key, value, ttlMs);
    },

    async get(key) {
      return values.get(key);
    },

    async list(prefix, limit) {
      const keys = values.keys().filter((key) => key.startsWith(prefix));
      return keys.slice(0, limit).map((key) => ({ key, value: values.get(key) ?? "" }));
    },

    async lock(name, owner, ttlMs) {
      const holder = locks.get(name);
      if (holder !== null && holder !== owner) return false;
      locks.set(name, owner, ttlMs);
      return true;
    },

    async unlock(name, owner) {
      if (locks.get(name) === owner) locks.delete(name);
    },
  };
}
