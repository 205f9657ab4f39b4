import type { SignerPort } from "../../ports/signer.ts";
import { unavailable } from "./issuer.ts";

export interface QueueOptions {
  /** Signatures that are made at once. */
  readonly concurrency: number;
  /** Signatures that may wait; one more is refused. */
  readonly maxWaiting: number;
  /** How long one may wait for its turn. */
  readonly waitMs: number;
}

/** Nobody waits: on workerd one request cannot end another one's wait. */
export const UNQUEUED: QueueOptions = { concurrency: 64, maxWaiting: 0, waitMs: 0 };

/** The same signer behind a bounded queue, first come, first served. */
export function queued(port: SignerPort, options: QueueOptions): SignerPort {
  let running = 0;
  const waiting: (() => void)[] = [];

  function turn(): Promise<void> {
    if (running < options.concurrency) {
      running++;
      return Promise.resolve();
    }
    if (waiting.length >= options.maxWaiting)
      return Promise.reject(unavailable(`the queue is full: ${waiting.length} wait`));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(unavailable(`no turn within ${options.waitMs} ms`));
      }, options.waitMs);
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push(start);
    });
  }

  return {
    chain: () => port.chain(),
    trusted: () => port.trusted(),
    algorithm: () => port.algorithm(),
    async sign(tbs) {
      await turn();
      try {
        return await port.sign(tbs);
      } finally {
        // The place goes to the next one without being free in between, or a newcomer could take it.
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    },
  };
}
