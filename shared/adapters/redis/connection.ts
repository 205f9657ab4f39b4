import { createHash } from "node:crypto";
import { Redis, type RedisOptions } from "ioredis";
import { PortError } from "../../ports/error.ts";

export interface RedisSettings {
  /** redis://, rediss:// or unix:///path/to/socket; its password never reaches an error. */
  readonly url: string;
  /** In front of every key, `fleetd:` by default. */
  readonly prefix?: string;
  readonly commandTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** PEM of the CA for rediss://. */
  readonly ca?: string;
}

export type Argument = string | number | Uint8Array;

/** One connection on which nothing is queued, resent or run late. */
export interface Connection {
  readonly redis: Redis;
  /** Runs a write script under a deadline. @throws PortError unavailable */
  run(script: string, keys: readonly string[], args: readonly Argument[]): Promise<string | readonly Buffer[]>;
  /** Any command, every failure as PortError unavailable. */
  guard<T>(what: string, call: Promise<T>): Promise<T>;
  close(): void;
}

const COMMAND_TIMEOUT_MS = 600;
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_RETRY_MS = 2_000;
const CLOCK_SYNC_MS = 60_000;

/** Connects and waits until the server takes commands. @throws PortError unavailable @see facts/platform.md section 4 */
export async function connect(settings: RedisSettings): Promise<Connection> {
  const commandTimeoutMs = settings.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
  const redis = makeClient(settings, commandTimeoutMs);
  const connection = new SafeConnection(redis, commandTimeoutMs);
  try {
    await ready(redis, settings.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
    await connection.syncClock();
  } catch (error) {
    redis.disconnect();
    throw unavailable("connect", error);
  }
  return connection;
}

function makeClient(settings: RedisSettings, commandTimeout: number): Redis {
  const options = {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout,
    connectTimeout: settings.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RETRY_MS),
    ...(settings.ca === undefined ? {} : { tls: { ca: settings.ca } }),
  } satisfies RedisOptions;
  const redis = settings.url.startsWith("unix:")
    ? new Redis({ ...options, path: new URL(settings.url).pathname })
    : new Redis(settings.url, options);
  // Each command tells its own failure; an unheard "error" event would be printed with the address.
  redis.on("error", () => undefined);
  return redis;
}

async function ready(redis: Redis, timeoutMs: number): Promise<void> {
  const limit = AbortSignal.timeout(timeoutMs);
  const outOfTime = new Promise<never>((_resolve, reject) => {
    limit.addEventListener("abort", () => reject(new Error("not ready in time")));
  });
  redis.connect().catch(() => undefined);
  const isReady = new Promise<void>((resolve) => redis.once("ready", () => resolve()));
  await Promise.race([isReady, outOfTime]);
}

class SafeConnection implements Connection {
  readonly redis: Redis;
  readonly #timeoutMs: number;
  /** The server's clock less our monotonic one, which no setting of the time moves. */
  #offsetMs = 0;
  #syncedAtMs = Number.NEGATIVE_INFINITY;

  constructor(redis: Redis, timeoutMs: number) {
    this.redis = redis;
    this.#timeoutMs = timeoutMs;
    // After a reconnection it may be another server.
    redis.on("ready", () => {
      this.#syncedAtMs = Number.NEGATIVE_INFINITY;
    });
  }

  async syncClock(): Promise<void> {
    const [seconds, micros] = (await this.redis.time()).map(Number);
    const serverMs = (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000);
    this.#syncedAtMs = performance.now();
    this.#offsetMs = serverMs - this.#syncedAtMs;
  }

  async run(script: string, keys: readonly string[], args: readonly Argument[]): Promise<string | readonly Buffer[]> {
    if (performance.now() - this.#syncedAtMs > CLOCK_SYNC_MS) await this.guard("TIME", this.syncClock());
    const reply = await this.#once(script, keys, args);
    if (reply !== "late") return reply;
    // Nothing was done: the server hung, or its clock was set. With its time of now the command may be given again.
    await this.guard("TIME", this.syncClock());
    const again = await this.#once(script, keys, args);
    if (again !== "late") return again;
    throw new PortError("unavailable", "redis", "the command came too late and was not done");
  }

  async #once(script: string, keys: readonly string[], args: readonly Argument[]) {
    const deadlineMs = Math.floor(performance.now() + this.#offsetMs + this.#timeoutMs);
    const rest = [keys.length, ...keys, deadlineMs, ...args].map((each) =>
      each instanceof Uint8Array ? Buffer.from(each) : each,
    );
    const reply = await this.guard("script", this.#evaluate(script, rest));
    return Array.isArray(reply) ? (reply as readonly Buffer[]) : String(reply);
  }

  async #evaluate(script: string, rest: (string | number | Buffer)[]): Promise<unknown> {
    try {
      return await this.redis.callBuffer("EVALSHA", digest(script), ...rest);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return await this.redis.callBuffer("EVAL", script, ...rest);
    }
  }

  async guard<T>(what: string, call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw unavailable(what, error);
    }
  }

  close(): void {
    this.redis.disconnect();
  }
}

function digest(script: string): string {
  return createHash("sha1").update(script).digest("hex");
}

/** Only the first word of an error reply (`READONLY`, `OOM`, `NOPERM`) or a code goes on: replies may repeat arguments. */
function unavailable(what: string, error: unknown): PortError {
  if (error instanceof PortError) return error;
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
  const words = error instanceof Error ? error.message : "";
  const known = /^(Command timed out|Connection is closed|not ready in time|[A-Z]{3,20}\b)/.exec(words)?.[0];
  return new PortError("unavailable", "redis", `${what}: ${code ?? known ?? "no answer"}`);
}
