import type { Observed } from "../observed.ts";
import type { DeviceRecord } from "../record.ts";
import type { Plan, Step } from "../step.ts";
import { planDevice } from "./plan.ts";

/** Looks in a row that change nothing but the record; each is a decision that the next rests on. */
const MAX_DECISIONS = 8;

export interface Rehearsal {
  readonly steps: readonly Step[];
  /** The record as the steps would leave it. */
  readonly record: DeviceRecord;
  /** What the steps do outside decides what comes next: that cannot be told before. */
  readonly again: boolean;
}

function decides(step: Step): boolean {
  return step.do === "put-record" || step.do === "journal";
}

/** What a pass would do with the device, up to where it would have to look outside again. Nothing is done. */
export function rehearse(observed: Observed): Rehearsal {
  const steps: Step[] = [];
  let record = observed.record;
  for (let n = 1; ; n++) {
    const plan: Plan = planDevice({ ...observed, record });
    steps.push(...plan.steps);
    for (const step of plan.steps) if (step.do === "put-record") record = step.record;
    const goesOn = plan.again && plan.steps.length > 0;
    if (!goesOn || n === MAX_DECISIONS || !plan.steps.every(decides)) return { steps, record, again: goesOn };
  }
}
