import type { Event } from "../ledger.ts";
import { take } from "../ledger-take.ts";
import type { Sim } from "../sim.ts";
import { oneWorkflow } from "./01-one-workflow.ts";
import { gates } from "./02-gates.ts";
import { proven } from "./03-proven.ts";
import { once } from "./04-once.ts";
import { readable } from "./05-readable.ts";
import { active } from "./06-active.ts";
import { offline } from "./07-offline.ts";
import { csr } from "./08-csr.ts";
import { allowPxe } from "./09-allow-pxe.ts";
import { requests } from "./10-requests.ts";
import { journal } from "./11-journal.ts";
import { secrets } from "./12-secrets.ts";
import { renewed } from "./14-renewed.ts";
import { certified } from "./15-certified.ts";
import { recorded } from "./16-recorded.ts";
import { slots } from "./17-slots.ts";
import { oldRequests } from "./18-old-requests.ts";
import { gone } from "./41-gone.ts";
import { nodes } from "./42-nodes.ts";

const INVARIANTS = [
  ...[oneWorkflow, gates, proven, once, readable, active, offline, csr, allowPxe, requests, journal, secrets],
  ...[renewed, certified, recorded, slots, oldRequests, gone, nodes],
];

/** Asks every invariant of an event, then writes it down. */
export function judge(sim: Sim, event: Event): void {
  for (const { number, on } of INVARIANTS) {
    const wrong = on?.(sim, event) ?? null;
    if (wrong !== null) sim.fail(number, wrong);
  }
  take(sim, event);
}

/** What must hold after every step. */
export function always(sim: Sim): void {
  for (const one of INVARIANTS) {
    const wrong = one.always?.(sim) ?? null;
    if (wrong !== null) sim.fail(one.number, wrong);
  }
}

/** What must hold when nothing is under way. */
export async function atRest(sim: Sim): Promise<void> {
  for (const one of INVARIANTS) {
    const wrong = (await one.atRest?.(sim)) ?? null;
    if (wrong !== null) sim.fail(one.number, wrong);
  }
}
