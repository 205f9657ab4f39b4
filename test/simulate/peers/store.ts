import { createMemoryStore } from "../../../shared/adapters/memory/store.ts";
import type { StorePort } from "../../../shared/ports/store.ts";

const WRITES = new Set<string>([
  ...["putConfig", "claimConfig", "settleConfig", "keepConfig", "dropConfig", "setOnce", "put", "lock", "unlock"],
]);

interface Done {
  readonly atMs: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** The in-process store, which can be flushed, or go back to what it was some time ago as a fail-over to an old replica does. */
export class SimStore {
  readonly port: StorePort;
  /** Devices with an unread or serving payload, and what was put: for who looks on. */
  readonly #nowMs: () => number;
  #done: Done[] = [];
  #inner: StorePort;
  #atMs: number | null = null;

  constructor(nowMs: () => number, written: (text: string) => void) {
    this.#nowMs = nowMs;
    this.#inner = this.#fresh();
    const call =
      (method: string) =>
      (...args: unknown[]) => {
        if (WRITES.has(method)) this.#done.push({ atMs: this.#nowMs(), method, args });
        if (method === "put" || method === "setOnce") written(String(args[1]));
        return this.#call(method, args);
      };
    this.port = new Proxy({} as StorePort, { get: (_target, method) => call(String(method)) });
  }

  flush(): void {
    this.#done = [];
    this.#inner = this.#fresh();
  }

  /** What was written after the moment is lost. */
  async goBack(toMs: number): Promise<void> {
    this.#done = this.#done.filter((one) => one.atMs <= toMs);
    this.#inner = this.#fresh();
    for (const { atMs, method, args } of this.#done) {
      this.#atMs = atMs;
      await this.#call(method, args);
    }
    this.#atMs = null;
  }

  /** Whether a device's payload lies here. */
  async holds(deviceId: number): Promise<boolean> {
    const claim = await this.#inner.claimConfig(deviceId, "", "", 0);
    return claim.state === "wrong-code" && this.#unread(deviceId);
  }

  /** When the payload of a device that lies here was put. */
  putAtMs(deviceId: number): number {
    const put = this.#done.findLast(
      ({ method, args: [first] }) => method === "putConfig" && (first as { deviceId: number }).deviceId === deviceId,
    );
    return put?.atMs ?? 0;
  }

  #unread(deviceId: number): boolean {
    let there = false;
    for (const { method, args } of this.#done) {
      const [first, , outcome] = args;
      if (method === "putConfig" && (first as { deviceId: number }).deviceId === deviceId) there = true;
      if (method === "dropConfig" && first === deviceId) there = false;
      if (method === "settleConfig" && first === deviceId && outcome === "finish") there = false;
    }
    return there;
  }

  #call(method: string, args: readonly unknown[]): Promise<unknown> {
    const inner = this.#inner as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
    const found = inner[method];
    if (found === undefined) throw new Error(`the store has no ${method}`);
    return found.apply(inner, [...args]);
  }

  #fresh(): StorePort {
    return createMemoryStore({ nowMs: () => this.#atMs ?? this.#nowMs() });
  }
}
