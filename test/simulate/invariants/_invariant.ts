import type { Event } from "../ledger.ts";
import type { Sim } from "../sim.ts";

/** One invariant of spec/80: each question answers with what is wrong, or null. */
export interface Invariant {
  readonly number: number;
  /** Asked of each event, as the ledger stood before it. */
  readonly on?: (sim: Sim, event: Event) => string | null;
  /** Asked after every step. */
  readonly always?: (sim: Sim) => string | null;
  /** Asked when everything has come to rest. */
  readonly atRest?: (sim: Sim) => string | null | Promise<string | null>;
}
