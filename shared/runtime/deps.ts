import type { World } from "../engine/world.ts";
import type { Metrics } from "./metrics.ts";

/** What every handler is given; built by wire.ts on Node, by wrangler-local on workerd, by tests from fakes. */
export interface Deps {
  readonly world: World;
  readonly metrics: Pick<Metrics, "answer">;
  /** Waits so many milliseconds, or until the signal: a test may own time. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly log: { info(fields: object, text: string): void; error(fields: object, text: string): void };
  /** FLEET_SESSION_KEY: the first seals, all open. At least 32 bytes each. */
  readonly sessionKeys: readonly Uint8Array[];
  readonly limits: {
    readonly beginPerMinute: number;
    readonly beginInFlight: number;
    /** How long a body may take to come, and how many of one peer, and of all, may be awaited at once. */
    readonly bodyMs: number;
    readonly bodiesPerPeer: number;
    readonly bodiesInAll: number;
    readonly configFailuresPerMinute: number;
    readonly configFailuresInAll: number;
  };
  readonly trustedProxies: readonly string[];
}

export interface AdminDeps extends Deps {
  /** Bearer token of at least 32 bytes, or null where only client certificates count. */
  readonly adminToken: string | null;
  readonly webhookSecret: string;
}
