import { isObject } from "./json.ts";

/** What the API does wrong at the moment; POST /lab/faults changes the keys that are sent. */
export interface Faults {
  /** Every connection is cut without an answer. */
  down: boolean;
  /** Each answer comes this much later. */
  slowMs: number;
  /** So many writes are done and their answers lost. */
  loseAnswers: number;
  /** So many writes get no answer and are done `lateMs` later. */
  lateWrites: number;
  lateMs: number;
  /** So many writes are answered 409 without being done. */
  conflicts: number;
  /** So many calls are answered 429 by priority and fairness. */
  throttled: number;
  /** The next continue tokens have expired. */
  expiredContinues: number;
  /** What a SubjectAccessReview answers. */
  othersApprove: boolean;
  /** Evicted pods stay Terminating, as on a node that is off. */
  podsStayTerminating: boolean;
}

export const NO_FAULTS: Readonly<Faults> = {
  down: false,
  slowMs: 0,
  loseAnswers: 0,
  lateWrites: 0,
  lateMs: 1_000,
  conflicts: 0,
  throttled: 0,
  expiredContinues: 0,
  othersApprove: false,
  podsStayTerminating: false,
};

/** Takes over the keys that are faults and of the right type. */
export function setFaults(faults: Faults, change: unknown): void {
  if (!isObject(change)) return;
  const known = Object.entries(NO_FAULTS).filter(([key, value]) => typeof change[key] === typeof value);
  Object.assign(faults, Object.fromEntries(known.map(([key]) => [key, change[key]])));
}

/** Counts one down; true while there was one left. */
export function spend(
  faults: Faults,
  key: "loseAnswers" | "lateWrites" | "conflicts" | "throttled" | "expiredContinues",
): boolean {
  if (faults[key] <= 0) return false;
  faults[key] -= 1;
  return true;
}
