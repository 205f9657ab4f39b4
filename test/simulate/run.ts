import { apply } from "./apply.ts";
import type { Decision } from "./decision.ts";
import { always, atRest, judge } from "./invariants/all.ts";
import { liveness } from "./liveness.ts";
import { propose, weatherOf } from "./propose.ts";
import { Random } from "./random.ts";
import { rest } from "./rest.ts";
import { round } from "./round.ts";
import { Sim, type Violation } from "./sim.ts";

/** What came of a run. */
export interface Outcome {
  readonly seed: number;
  readonly steps: number;
  readonly simulatedMs: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly violation: Violation | null;
  readonly traceHash: string;
  readonly decisions: readonly Decision[];
  readonly lines: readonly string[];
}

function outcome(sim: Sim, startMs: number, decisions: readonly Decision[]): Outcome {
  return {
    seed: sim.seed,
    steps: sim.step,
    simulatedMs: sim.nowMs - startMs,
    faults: Object.fromEntries([...sim.faults].sort(([a], [b]) => (a < b ? -1 : 1))),
    violation: sim.violation,
    traceHash: sim.traceHash,
    decisions,
    lines: sim.lines,
  };
}

async function one(sim: Sim, decision: Decision): Promise<boolean> {
  if (decision.do === "round") {
    sim.say("# a while in which everybody does what comes next");
    for (const machine of sim.machines)
      if (machine.running === "off" || machine.running === "nothing") machine.powerOn(true);
    await round(sim, decision.id * 1_000_000);
    if (sim.violation === null) always(sim);
    return true;
  }
  if (decision.do !== "rest") {
    const done = await apply(sim, decision);
    if (sim.violation === null) always(sim);
    return done;
  }
  sim.say("# everything comes to rest");
  if (await rest(sim, decision.id)) await atRest(sim);
  return true;
}

async function end(sim: Sim): Promise<void> {
  sim.ending = true;
  sim.say("# the end: faults heal, everybody behaves");
  await liveness(sim);
}

/** One run of so many steps, wholly decided by its seed. */
export async function simulate(seed: number, steps: number): Promise<Outcome> {
  const sim = await Sim.create(seed, judge);
  const startMs = sim.nowMs;
  const random = new Random(seed);
  const weather = weatherOf(random, sim.themes);
  const decisions: Decision[] = [];
  // What runs through without a choice of the seed is no step of its own.
  let through = 0;
  while (sim.step - through < steps && sim.violation === null) {
    const first = decisions.length < weather.rounds;
    const decision: Decision = first ? { do: "round", id: sim.step + 1 } : propose(sim, random, weather);
    decisions.push(decision);
    const before = sim.step;
    await one(sim, decision);
    if (decision.do === "finish") through += sim.step - before - 1;
    if (decision.do === "round" || decision.do === "rest") through += sim.step - before;
  }
  if (sim.violation === null) await end(sim);
  return outcome(sim, startMs, decisions);
}

/** Does decisions again; those that mean nothing any more are passed over. */
export async function replay(seed: number, decisions: readonly Decision[], toTheEnd: boolean): Promise<Outcome> {
  const sim = await Sim.create(seed, judge);
  const startMs = sim.nowMs;
  const done: Decision[] = [];
  for (const decision of decisions) {
    if (sim.violation !== null) break;
    if (await one(sim, decision)) done.push(decision);
  }
  if (toTheEnd && sim.violation === null) await end(sim);
  return outcome(sim, startMs, done);
}
