import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Lab } from "../../../infra/lab/world/lab.ts";

/** Kills fleetd again and again, at moments that a seed names, until it is ended. */
export interface Chaos {
  /** How often `serve` was killed, and how often a `reconcile` of its own was killed amid its pass. */
  readonly killed: { serve: number; reconcile: number };
  end(): Promise<void>;
}

const FIRST_MS = 4_000;
/** One that is killed leaves its locks, which last 30 s: killed much more often than that, nothing would ever go on. */
const SPREAD_MS = 36_000;
const PAUSE_MS = 1_500;
const PASS_MS = 4_000;
const SERVE_SHARE = 0.7;

/**
 * `serve` is killed by SIGKILL and started again after a while; now and then it is a one-shot `reconcile` beside it that
 * begins a pass of the same fleet and is killed.
 */
export function startChaos(lab: Lab, seed: number): Chaos {
  const random = randomOf(seed);
  const killed = { serve: 0, reconcile: 0 };
  const stop = new AbortController();
  const work = (async () => {
    for (;;) {
      const waited = sleep(FIRST_MS + random() * SPREAD_MS, true, { signal: stop.signal });
      if (!(await waited.catch(() => false))) return;
      if (random() < SERVE_SHARE) {
        await lab.crashFleetd(random() * PAUSE_MS);
        killed.serve += 1;
      } else if (await killedPass(lab, random() * PASS_MS)) killed.reconcile += 1;
    }
  })();
  return {
    killed,
    async end() {
      stop.abort();
      await work;
    },
  };
}

/** Starts one pass as a process of its own; true where it was still at work when it was killed. */
async function killedPass(lab: Lab, afterMs: number): Promise<boolean> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...lab.env };
  const child = spawn(process.execPath, ["functions/reconcile/index.ts"], { env, stdio: "ignore" });
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await Promise.race([gone, sleep(afterMs)]);
  const amid = child.exitCode === null && child.kill("SIGKILL");
  await gone;
  return amid;
}

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
