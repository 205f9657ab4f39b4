import type { Decision } from "./decision.ts";
import { type Outcome, replay } from "./run.ts";

/** Decisions that belong together: a task's start and all that was done to it. */
function groupsOf(decisions: readonly Decision[]): number[] {
  const groups = new Map<string, number>();
  return decisions.map((decision, n) => {
    const task = "task" in decision ? decision.task : "id" in decision ? decision.id : null;
    const key = task === null ? `single ${n}` : `task ${task}`;
    const known = groups.get(key) ?? groups.size;
    groups.set(key, known);
    return known;
  });
}

/** One task's calls as one decision, at the place of its last one. */
function joined(decisions: readonly Decision[], task: number): Decision[] {
  const last = decisions.findLastIndex((d) => "task" in d && d.task === task);
  return decisions.flatMap((d, n): Decision[] => {
    if (!("task" in d) || d.task !== task) return [d];
    return n === last ? [{ do: "finish", task }] : [];
  });
}

/**
 * The shortest run found, within the time, that breaks the same invariant: whole tasks and acts are left out first, then
 * tasks run through, then faults are left out.
 */
export async function shrunk(found: Outcome, limitMs: number): Promise<Outcome> {
  const endMs = Date.now() + limitMs;
  let best = found;
  const attempt = async (decisions: readonly Decision[]): Promise<boolean> => {
    if (Date.now() > endMs) return false;
    const outcome = await replay(found.seed, decisions, found.violation?.late === true);
    if (outcome.violation?.invariant !== found.violation?.invariant) return false;
    best = outcome;
    return true;
  };
  for (let size = Math.ceil(best.decisions.length / 4); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 3)) {
    for (let from = 0; Date.now() < endMs; ) {
      const groups = groupsOf(best.decisions);
      const count = Math.max(...groups) + 1;
      if (from >= count) break;
      const kept = best.decisions.filter((_, n) => (groups[n] ?? 0) < from || (groups[n] ?? 0) >= from + size);
      if (!(await attempt(kept))) from += size;
    }
  }
  for (const task of new Set(best.decisions.flatMap((d) => ("task" in d ? [d.task] : []))))
    await attempt(joined(best.decisions, task));
  for (let n = best.decisions.length - 1; n >= 0; n--) {
    const decision = best.decisions[n];
    if (decision?.do !== "go") continue;
    const { fault, ...calm } = decision;
    if (fault !== undefined) await attempt(best.decisions.with(n, calm));
  }
  return best;
}
