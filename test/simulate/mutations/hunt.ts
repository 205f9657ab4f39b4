import { Redis } from "ioredis";
import { connectRedis } from "../../../shared/adapters/redis/store.ts";
import { findRedisServer, startRedisServer } from "../../contracts/redis-server.ts";
import { storesDiffer } from "../../contracts/store-differential.ts";
import { simulate } from "../run.ts";

/** Tries seeds until one shows that something is wrong; prints which and what, or null. `node hunt.ts KIND FROM TO STEPS` */
const [kind, from, to, steps] = process.argv.slice(2);

async function bySimulation(): Promise<object | null> {
  for (let seed = Number(from); seed <= Number(to); seed++) {
    const { violation } = await simulate(seed, Number(steps));
    // An exception is no catch: it tells of no invariant.
    if (violation !== null && violation.invariant !== 0)
      return { seed, by: `invariant ${violation.invariant}`, text: violation.text };
  }
  return null;
}

async function byDifference(): Promise<object | null> {
  const server = await startRedisServer(findRedisServer() ?? "redis-server");
  const store = await connectRedis({ url: server.url, commandTimeoutMs: 5_000 });
  const raw = new Redis({ path: new URL(server.url).pathname });
  try {
    for (let seed = Number(from); seed <= Number(to); seed++) {
      const differ = await storesDiffer(seed, Number(steps), { store, raw });
      if (differ !== null) return { seed, by: "store in memory", text: differ.slice(-2).join("; ") };
    }
    return null;
  } finally {
    raw.disconnect();
    store.close();
    server.stop();
  }
}

const found = kind === "store" ? await byDifference() : await bySimulation();
process.stdout.write(`${JSON.stringify(found)}\n`);
process.exit(0);
