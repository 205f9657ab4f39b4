import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "./read.ts";

/**
 * What `POST /lab/faults` switches on. `down` answers as with Redis down, `database-down` as with PostgreSQL down, `slow`
 * waits before the work, `slow-answer` after it, `lost-answer` does the work and cuts the connection, `lost-write` answers
 * 200 for a PATCH that is not stored.
 */
export interface FaultOrder {
  readonly mode: "ok" | "down" | "database-down" | "slow" | "slow-answer" | "lost-answer" | "lost-write";
  readonly delayMs?: number;
  /** Only requests of this method (GET, PATCH, …). */
  readonly method?: string;
  /** Only paths that begin so. */
  readonly path?: string;
  /** Ends by itself after so many requests. */
  readonly times?: number;
  /** How long a PATCH without If-Match holds its old row before it saves it whole. */
  readonly windowMs?: number;
}

/** Of the server's six some have not been asked meanwhile. */
const STALE_THREADS = 3;
const modes = ["ok", "down", "database-down", "slow", "slow-answer", "lost-answer", "lost-write"];

export class Faults {
  #order: FaultOrder = { mode: "ok" };
  #left = Number.POSITIVE_INFINITY;
  /** Threads of the server whose connection to the database is of before its restart: each fails one call more. */
  #stale = 0;
  #calls = 0;

  /** Returns false for an order that is not one. */
  set(order: unknown): boolean {
    const mode = typeof order === "object" && order !== null && "mode" in order ? order.mode : undefined;
    if (typeof mode !== "string" || !modes.includes(mode)) return false;
    if (this.#order.mode === "database-down" && mode === "ok") this.#stale = STALE_THREADS;
    this.#order = order as FaultOrder;
    this.#left = this.#order.times ?? Number.POSITIVE_INFINITY;
    return true;
  }

  /** The order that this request falls under. */
  take(method: string, path: string): FaultOrder {
    const order = this.#order;
    const meant = (order.method ?? method) === method && path.startsWith(order.path ?? "");
    if (order.mode === "ok" && this.#stale > 0 && ++this.#calls % 2 === 0) {
      this.#stale--;
      return { mode: "database-down" };
    }
    if (order.mode === "ok" || !meant || this.#left <= 0) return { mode: "ok" };
    this.#left--;
    return order;
  }

  /** How long an unconditional PATCH lies between its read and its save. */
  async window(): Promise<void> {
    if ((this.#order.windowMs ?? 0) > 0) await sleep(this.#order.windowMs);
  }
}

/** The answer of a NetBox that cannot work, or null where the mode is another. */
export function broken(order: FaultOrder, version: string): Answer | null {
  if (order.mode === "down") {
    return {
      status: 500,
      html: '<!DOCTYPE html>\n<html lang="en">\n<head>\n<title>Server Error</title>\n</head></html>',
    };
  }
  if (order.mode !== "database-down") return null;
  const error = "terminating connection due to administrator command";
  return {
    status: 500,
    body: { error, exception: "OperationalError", netbox_version: version, python_version: "3.12.1" },
  };
}
