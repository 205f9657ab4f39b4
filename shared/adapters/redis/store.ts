import type { ConfigClaim, StorePort } from "../../ports/store.ts";
import { type Argument, type Connection, connect, type RedisSettings } from "./connection.ts";
import { CONSUMED_TTL_MS, type Keys, keysUnder } from "./keys.ts";
import * as scripts from "./scripts.ts";

export interface RedisStore extends StorePort {
  /** Whether the server writes what it holds to a disk; `unknown` where it does not let us ask. */
  redisPersistence(): Promise<"off" | "on" | "unknown">;
  close(): void;
}

/** Connects to Redis or Valkey and waits until it is ready. @throws PortError unavailable */
export async function connectRedis(settings: RedisSettings): Promise<RedisStore> {
  const connection = await connect(settings);
  const keys = keysUnder(settings.prefix ?? "fleetd:");
  return {
    ...configurations(connection, keys),
    ...values(connection, keys),
    redisPersistence: () => persistence(connection),
    close: () => connection.close(),
  };
}

type Configurations = Pick<StorePort, "putConfig" | "claimConfig" | "settleConfig" | "keepConfig" | "dropConfig">;

function configurations(connection: Connection, keys: Keys): Configurations {
  const run = (script: string, deviceId: number, ...args: Argument[]) =>
    connection.run(script, [keys.config(deviceId), keys.consumed(deviceId)], args);
  return {
    async putConfig({ deviceId, codeHash, runId, contentType, sealed }, ttlMs) {
      const word = await run(scripts.PUT_CONFIG, deviceId, codeHash, runId, contentType, sealed, ttlMs);
      return word === "stored" || word === "serving" ? word : "consumed";
    },
    async claimConfig(deviceId, codeHash, nonce, leaseMs) {
      return claim(await run(scripts.CLAIM_CONFIG, deviceId, codeHash, nonce, leaseMs, CONSUMED_TTL_MS));
    },
    async settleConfig(deviceId, nonce, outcome, ttlMs) {
      return (await run(scripts.SETTLE_CONFIG, deviceId, nonce, outcome, ttlMs, CONSUMED_TTL_MS)) === "yes";
    },
    async keepConfig(deviceId, ttlMs) {
      return (await run(scripts.KEEP_CONFIG, deviceId, ttlMs)) === "yes";
    },
    async dropConfig(deviceId, consumed) {
      await run(scripts.DROP_CONFIG, deviceId, consumed ? 1 : 0);
    },
  };
}

function claim(reply: string | readonly Buffer[]): ConfigClaim {
  if (typeof reply !== "string") {
    const [runId, contentType, sealed] = reply;
    return {
      state: "claimed",
      runId: String(runId),
      contentType: String(contentType),
      sealed: new Uint8Array(sealed ?? []),
    };
  }
  const state = (["missing", "wrong-code", "serving", "lost"] as const).find((each) => each === reply);
  return { state: state ?? "consumed" };
}

function values(connection: Connection, keys: Keys): Omit<StorePort, keyof Configurations> {
  const { redis } = connection;
  const yes = async (script: string, key: string, ...args: Argument[]) =>
    (await connection.run(script, [key], args)) === "yes";
  return {
    setOnce: (key, value, ttlMs) => yes(scripts.SET_ONCE, keys.value(key), value, ttlMs),
    async put(key, value, ttlMs) {
      await yes(scripts.PUT, keys.value(key), value, ttlMs);
    },
    get: (key) => connection.guard("GET", redis.get(keys.value(key))),
    list: (prefix, limit) => list(connection, keys, prefix, limit),
    lock: (name, owner, ttlMs) => yes(scripts.LOCK, keys.lock(name), owner, ttlMs),
    async unlock(name, owner) {
      await yes(scripts.UNLOCK, keys.lock(name), owner);
    },
  };
}

const SCAN_COUNT = 500;

async function list(connection: Connection, keys: Keys, prefix: string, limit: number) {
  const { redis } = connection;
  const pattern = `${keys.value(prefix).replace(/[\\*?[\]]/g, "\\$&")}*`;
  const found = new Set<string>();
  let cursor = "0";
  do {
    const [next, page] = await connection.guard("SCAN", redis.scan(cursor, "MATCH", pattern, "COUNT", SCAN_COUNT));
    for (const key of page) found.add(key);
    cursor = next;
  } while (cursor !== "0");
  const wanted = [...found].sort().slice(0, limit);
  if (wanted.length === 0) return [];
  const texts = await connection.guard("MGET", redis.mget(wanted));
  const start = keys.value("").length;
  return wanted.flatMap((key, i) => {
    const value = texts[i] ?? null;
    return value === null ? [] : [{ key: key.slice(start), value }];
  });
}

async function persistence(connection: Connection): Promise<"off" | "on" | "unknown"> {
  const ask = (name: string) =>
    connection.guard("CONFIG", connection.redis.config("GET", name).catch(refusedByAcl)) as Promise<unknown>;
  const [save, append] = [await ask("save"), await ask("appendonly")];
  const setting = (reply: unknown) => (Array.isArray(reply) ? reply[1] : undefined);
  if (setting(save) === undefined || setting(append) === undefined) return "unknown";
  return setting(save) === "" && setting(append) === "no" ? "off" : "on";
}

function refusedByAcl(error: unknown): null {
  if (error instanceof Error && /^(NOPERM|ERR)\b/.test(error.message)) return null;
  throw error;
}
