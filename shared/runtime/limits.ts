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
    if (nowMs - this.#windowStartMs >= 60_000) {
      this.#counts.clear();
      this.#windowStartMs = nowMs;
    }
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count <= this.#perMinute;
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
