import type { Run } from "../record.ts";
import { backoffMs } from "./backoff.ts";
import type { Draft } from "./draft.ts";

/** What the end of a retirement's Workflow means for the retirement: erased for good, or a later try. */
export function retireAttemptEnded(d: Draft, result: NonNullable<Run["result"]>, text: string): void {
  const { retire } = d.record;
  if (retire === null) return;
  if (result === "erased") {
    // A Job that was to stop a run before is no evidence of what came after the erasure.
    const noJob = { offJob: null, offDone: false, offWaitSinceMs: null, offNextTryAtMs: null };
    d.set({ retire: { ...retire, ...noJob, erasedAtMs: d.o.nowMs, nextTryAtMs: null } });
    return;
  }
  if (result === "withdrawn") return;
  const failures = retire.failures + 1;
  const { retryFirstMs, retryLastMs } = d.o.settings.durations;
  const waitMs = backoffMs(failures, retryFirstMs, retryLastMs);
  d.set({ retire: { ...retire, failures, nextTryAtMs: d.o.nowMs + waitMs } });
  d.say(
    "warning",
    `retire-failed-${failures}`,
    `retirement attempt ${failures} failed (${text}); the next follows in ${Math.round(waitMs / 1000)} s`,
    retire.request.id,
  );
}
