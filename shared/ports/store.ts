/** What a claim of a stored configuration answers. `lost`: a lease ran out with nobody to say how the response ended. */
export type ConfigClaim =
  | { readonly state: "claimed"; readonly sealed: Uint8Array; readonly runId: string; readonly contentType: string }
  | { readonly state: "missing" | "wrong-code" | "serving" | "consumed" | "lost" };

export interface ConfigEntry {
  readonly deviceId: number;
  readonly codeHash: string;
  readonly runId: string;
  readonly contentType: string;
  readonly sealed: Uint8Array;
}

/**
 * Short-lived state with TTLs (Redis by Lua, or one process's memory): sealed configurations, single-use markers, locks,
 * copies. Nothing here alone decides; a flush loses unread configurations, never safety. Every method throws PortError
 * `unavailable` where the store does not answer, and an answer is never guessed.
 */
export interface StorePort {
  /** Replaces an unread configuration; refuses (`serving`, `consumed`) while one is being served or was. One script. */
  putConfig(entry: ConfigEntry, ttlMs: number): Promise<"stored" | "serving" | "consumed">;
  /** unread → serving under `nonce` with a lease; the same nonce again is the same claim. One script. */
  claimConfig(deviceId: number, codeHash: string, nonce: string, leaseMs: number): Promise<ConfigClaim>;
  /**
   * What the nonce's holder says next: `renew` the lease, `release` to unread, `finish` (payload deleted, consumed marker
   * set). `ttlMs` is the new lease (renew) or the marker's TTL (finish); a release leaves the payload its own. False where
   * the claim is not the nonce's any more; a lease that ran out can only be finished.
   */
  settleConfig(
    deviceId: number,
    nonce: string,
    outcome: "renew" | "release" | "finish",
    ttlMs: number,
  ): Promise<boolean>;
  /** Gives an unread configuration a new TTL; false where there is none (never put, claimed, consumed, over). */
  keepConfig(deviceId: number, ttlMs: number): Promise<boolean>;
  /**
   * Removes the payload, whatever its claim: who asks has a record that lets nobody read it any more, and a response that
   * goes on has it already. The claim stays, a consumed marker with it; it goes only where `consumed` is true (a new
   * provision).
   */
  dropConfig(deviceId: number, consumed: boolean): Promise<void>;
  /** SET NX PX of a marker (session tokens, store mark): true for the first caller only. */
  setOnce(key: string, value: string, ttlMs: number): Promise<boolean>;
  /** Copies and claims: plain values with a TTL. `prefix` lists values (at most `limit`). */
  put(key: string, value: string, ttlMs: number): Promise<void>;
  get(key: string): Promise<string | null>;
  list(prefix: string, limit: number): Promise<{ readonly key: string; readonly value: string }[]>;
  /** Lock of a random owner: taken, renewed by the same owner, or null where another holds it; `unlock` compares and deletes. */
  lock(name: string, owner: string, ttlMs: number): Promise<boolean>;
  unlock(name: string, owner: string): Promise<void>;
}
