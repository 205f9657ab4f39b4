import { once } from "node:events";
import { connect } from "node:net";
import { connectRedis } from "../../../shared/adapters/redis/store.ts";
import type { Settings } from "../../../shared/runtime/config.ts";
import { type Check, failed, looked, ok, warning } from "./check.ts";

const REDIS_PORT = 6379;
const TODO = 'set save "" and appendonly no: configurations in it are cluster secrets';

/** Redis: reached, and whether it writes to a disk. */
export function checkRedis(
  settings: Pick<Settings, "FLEET_REDIS_URL" | "FLEET_REDIS_PERSISTENCE" | "FLEET_CALL_TIMEOUT_MS">,
): Promise<Check[]> {
  const { FLEET_REDIS_URL: url, FLEET_REDIS_PERSISTENCE: accepted } = settings;
  if (url === undefined)
    return Promise.resolve([ok("redis", "none: the store is one process's memory, for one process alone")]);
  return looked("redis", "look whether FLEET_REDIS_URL names a Redis that is up", async () => {
    // fleetd's own deadline is for work; here this process may be busy with other looks.
    const timeoutMs = settings.FLEET_CALL_TIMEOUT_MS;
    // The client tries for as long as it may, and keeps to itself why it could not.
    await connected(url, timeoutMs);
    const store = await connectRedis({ url, commandTimeoutMs: timeoutMs, connectTimeoutMs: timeoutMs }).catch(
      (error: unknown) => {
        const why = error instanceof Error ? error.message : "no answer";
        throw new Error(`takes connections, but ${why}: is the user or password of FLEET_REDIS_URL another?`);
      },
    );
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

/** @throws Error where nobody listens */
async function connected(url: string, timeoutMs: number): Promise<void> {
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect(protocol === "unix:" ? { path: pathname } : { host, port: Number(port || REDIS_PORT) });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(timeoutMs) });
  } finally {
    socket.destroy();
  }
}
