import { connectRedis } from "../../../shared/adapters/redis/store.ts";
import type { Settings } from "../../../shared/runtime/config.ts";
import { type Check, failed, looked, ok, warning } from "./check.ts";

const TODO = 'set save "" and appendonly no: configurations in it are cluster secrets';

/** Redis: reached, and whether it writes to a disk. */
export function checkRedis(settings: Settings): Promise<Check[]> {
  const { FLEET_REDIS_URL: url, FLEET_REDIS_PERSISTENCE: accepted } = settings;
  if (url === undefined)
    return Promise.resolve([ok("redis", "none: the store is one process's memory, for one process alone")]);
  return looked("redis", "look whether FLEET_REDIS_URL names a Redis that is up", async () => {
    // fleetd's own deadline is for work; here this process may be busy with other looks.
    const timeoutMs = settings.FLEET_CALL_TIMEOUT_MS;
    const store = await connectRedis({ url, commandTimeoutMs: timeoutMs, connectTimeoutMs: timeoutMs });
    try {
      const persistence = await store.redisPersistence();
      const reached = ok("redis", "answers");
      if (persistence === "off") return [reached, ok("redis persistence", "off")];
      const told = accepted === "accept" ? warning : failed;
      return [reached, told("redis persistence", persistence === "on" ? "on" : "not to be found out", TODO)];
    } finally {
      store.close();
    }
  });
}
