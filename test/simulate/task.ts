import type { PassReport } from "../../shared/engine/pass.ts";
import type { FleetSettings } from "../../shared/fleet/limits.ts";

/** One call of a port that waits at its gate. */
export interface Call {
  readonly task: Task;
  readonly port: string;
  readonly method: string;
  readonly args: readonly unknown[];
  /** A sleep's end; others may go at once. */
  readonly notBeforeMs: number;
  readonly work: () => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Something with a memory of its own that may die: a pass, a server replica. */
export interface Process {
  readonly name: string;
  /** How far its clock is from the true one. */
  skewMs: number;
  alive: boolean;
}

/** What runs in a process, from its start to its end: one pass, one request. */
export class Task {
  readonly id: number;
  readonly kind: string;
  readonly process: Process;
  readonly startedAtStep: number;
  readonly startedAtMs: number;
  readonly waiting: Call[] = [];
  ended = false;
  /** The part of the fleet that a pass looks after. */
  shard: FleetSettings["shard"] = null;
  /** A pass has its list of devices: what it lists later only tells who shares what. */
  hasWalked = false;
  /** It asked for a lock, got no answer, and went on without one. */
  lockless = false;
  /** What a pass said of itself at its end. */
  report: PassReport | null = null;
  /** A fault was injected into one of its calls. */
  faulty = false;
  /** The ports whose calls had one. */
  readonly faultyPorts = new Set<string>();
  /** The step of its call before the one that is being done. */
  callBeforeStep = 0;
  /** The step of its newest call. */
  lastCallStep = 0;
  /** The step of the oldest snapshot that it was answered with. */
  seenFromStep: number;
  /** What nobody waits for: it goes on after the task's answer. */
  background = false;
  draws = 0;
  /** What a caller that waits for it sees when its process dies. */
  onKilled: () => void = () => undefined;
  #arrived: () => void = () => undefined;
  #next: Promise<void>;

  constructor(id: number, kind: string, process: Process, step: number, nowMs: number) {
    this.id = id;
    this.kind = kind;
    this.process = process;
    this.startedAtStep = step;
    this.seenFromStep = step;
    this.startedAtMs = nowMs;
    this.#next = this.#fresh();
  }

  /** A call comes to its gate; in a dead process it waits for ever. */
  arrive(call: Omit<Call, "task" | "resolve" | "reject">): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.process.alive) return;
      this.waiting.push({ ...call, task: this, resolve, reject });
      this.#arrived();
    });
  }

  run(work: () => Promise<void>): void {
    const end = () => {
      this.ended = true;
      this.#arrived();
    };
    work().then(end, end);
  }

  take(call: Call): void {
    this.waiting.splice(this.waiting.indexOf(call), 1);
    this.#next = this.#fresh();
  }

  /** Until its next call waits, it has ended, or (where others of its calls wait) nothing more comes by itself. */
  async stirred(): Promise<void> {
    if (!this.process.alive) return;
    if (!this.background && !this.ended && this.waiting.length === 0) await this.#next;
    if (this.background || this.waiting.length > 0) {
      await turn();
      await turn();
    }
  }

  get gone(): boolean {
    return !this.process.alive || (this.ended && this.waiting.length === 0);
  }

  #fresh(): Promise<void> {
    return new Promise((resolve) => {
      this.#arrived = resolve;
    });
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
