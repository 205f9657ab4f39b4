import type { Redis } from "ioredis";
import { createMemoryStore } from "../../shared/adapters/memory/store.ts";
import type { StorePort } from "../../shared/ports/store.ts";
import { Random } from "../simulate/random.ts";

/** Redis as the production store uses it, with a connection of the test's to the same keys. */
export interface RedisUnderTest {
  readonly store: StorePort;
  readonly raw: Redis;
}

const PREFIX = "fleetd:";
/** Times are far apart, so that the milliseconds that a sequence really takes decide nothing. */
const LEASES_MS = [10_000, 60_000] as const;
const JUMPS_MS = [7_000, 25_000, 100_000] as const;

/** Lets time pass for what lies in Redis: every TTL and every lease is that much shorter. */
async function age(raw: Redis, ms: number): Promise<void> {
  for (const key of await raw.keys(`${PREFIX}*`)) {
    const left = await raw.pttl(key);
    if (left < 0) throw new Error(`${key} has no TTL`);
    if (left <= ms) await raw.del(key);
    else await raw.pexpire(key, left - ms);
    if (!key.startsWith(`${PREFIX}consumed:`)) continue;
    const until = await raw.hget(key, "until");
    if (until !== null && left > ms) await raw.hset(key, "until", Number(until) - ms);
  }
}

type Call = readonly [name: string, run: (store: StorePort) => Promise<unknown>];

function anyCall(pick: <T>(list: readonly T[]) => T): Call {
  const deviceId = pick([7, 8]);
  const code = pick(["a", "b"]);
  const nonce = pick(["n1", "n2", "n3"]);
  const leaseMs = pick(LEASES_MS);
  const key = pick(["session:1", "session:2", "claim:1"]);
  const owner = pick(["p1", "p2"]);
  const outcome = pick(["renew", "release", "finish"] as const);
  const sealed = Uint8Array.of(deviceId, code.charCodeAt(0));
  const entry = { deviceId, codeHash: code, runId: `run-${code}`, contentType: "text/plain", sealed };
  const claim: Call = [
    `claim ${deviceId} ${code} ${nonce} ${leaseMs}`,
    (s) => s.claimConfig(deviceId, code, nonce, leaseMs),
  ];
  const settle: Call = [
    `settle ${deviceId} ${nonce} ${outcome} ${leaseMs}`,
    (s) => s.settleConfig(deviceId, nonce, outcome, leaseMs),
  ];
  const put: Call = [`put config ${deviceId} ${code} ${leaseMs}`, (s) => s.putConfig(entry, leaseMs)];
  return pick<Call>([
    ...[put, put, claim, claim, claim, settle, settle, settle],
    [`keep ${deviceId} ${leaseMs}`, (s) => s.keepConfig(deviceId, leaseMs)],
    [`drop ${deviceId} ${code === "a"}`, (s) => s.dropConfig(deviceId, code === "a")],
    [`once ${key} ${owner} ${leaseMs}`, (s) => s.setOnce(key, owner, leaseMs)],
    [`put ${key} ${owner} ${leaseMs}`, (s) => s.put(key, owner, leaseMs)],
    [`get ${key}`, (s) => s.get(key)],
    [`list ${key.slice(0, -1)}`, (s) => s.list(key.slice(0, -1), 2)],
    [`lock ${code} ${owner} ${leaseMs}`, (s) => s.lock(code, owner, leaseMs)],
    [`unlock ${code} ${owner}`, (s) => s.unlock(code, owner)],
  ]);
}

/** An answer in a form that can be compared: bytes as numbers, nothing as null. */
function plain(answer: unknown): string {
  return JSON.stringify(answer ?? null, (_key, value: unknown) => {
    if (value instanceof Uint8Array) return [...value];
    const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
    return isRecord ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
  });
}

/**
 * Does the same random calls to the store in memory and to Redis' scripts, with time passing for both.
 * @returns the calls up to the first answer that differs, or null
 */
export async function storesDiffer(
  seed: number,
  calls: number,
  { store, raw }: RedisUnderTest,
): Promise<string[] | null> {
  const random = new Random(seed);
  const pick = <T>(list: readonly T[]) => random.pick(list);
  let nowMs = Date.now();
  const memory = createMemoryStore({ nowMs: () => nowMs });
  await raw.flushall();
  const trace: string[] = [];
  for (let n = 0; n < calls; n++) {
    if (pick([0, 1, 2, 3, 4, 5]) === 0) {
      const ms = pick(JUMPS_MS);
      nowMs += ms;
      await age(raw, ms);
      trace.push(`${ms} ms pass`);
    }
    const [name, run] = anyCall(pick);
    const [inMemory, inRedis] = [plain(await run(memory)), plain(await run(store))];
    trace.push(`${name}: ${inMemory}`);
    if (inMemory !== inRedis) return [...trace, `but Redis: ${inRedis}`];
  }
  return null;
}
