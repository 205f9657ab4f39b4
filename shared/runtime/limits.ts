/** The bounds of every listener but the rate of begin, which is a setting. @see spec/00-overview.md "Listeners and callers" */
export const LISTENER_LIMITS = {
  beginInFlight: 64,
  bodyMs: 10_000,
  bodiesPerPeer: 64,
  bodiesInAll: 256,
  configFailuresPerMinute: 30,
  configFailuresInAll: 600,
};

/** Counts per key in windows of a minute; one process's own count is enough to slow a guesser down. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #counts = new Map<string, number>();
  #windowStartMs = 0;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** True where the key is still within its limit; counts the call. */
  allow(key: string, nowMs: number): boolean {
    // A clock that was set back would stay below the window's start, and the counts of then would count for ever.
    if (nowMs < this.#windowStartMs || nowMs - this.#windowStartMs >= 60_000) {
      this.#counts.clear();
      this.#windowStartMs = nowMs;
    }
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count <= this.#perMinute;
  }
}

/** A bound on what each peer may have under way at once. */
export class InFlightPerPeer {
  readonly #max: number;
  readonly #now = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs the work, or returns undefined where this peer has too much under way. */
  async run<T>(peer: string, work: () => Promise<T>): Promise<T | undefined> {
    const now = this.#now.get(peer) ?? 0;
    if (now >= this.#max) return undefined;
    this.#now.set(peer, now + 1);
    try {
      return await work();
    } finally {
      const left = (this.#now.get(peer) ?? 1) - 1;
      if (left === 0) this.#now.delete(peer);
      else this.#now.set(peer, left);
    }
  }
}

/** A bound on work at once. */
export class InFlight {
  readonly #max: number;
  #now = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs the work, or returns null where too much is in flight. */
  async run<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.#now >= this.#max) return null;
    this.#now++;
    try {
      return await work();
    } finally {
      this.#now--;
    }
  }
}
