import type { Event } from "../ledger.ts";
import type { Sim } from "../sim.ts";
import type { Invariant } from "./_invariant.ts";
import { recordOf } from "./truth.ts";

/** A run that begins now is for a request that is newer than the fleet's epoch, or that an administrator accepted. */
function olderThanEpoch(sim: Sim, { before, record, by }: Extract<Event, { kind: "recorded" }>): string | null {
  const { run, deviceId, retire } = record;
  const { ledger } = sim;
  if (run === null || run.name === before?.run?.name || ledger.made.has(run.name)) return null;
  // Taken up before: what a retirement does next is no new request.
  if (run.kind === "retire" && before?.retire?.request.id === retire?.request.id) return null;
  const key = `${deviceId} ${run.request.id}`;
  const atMs = ledger.requests.get(key)?.atMs;
  if (atMs === undefined || ledger.accepted.has(key) || ledger.isAfterEpoch(atMs, by?.seenFromStep ?? 0)) return null;
  return `${run.name} begins for a request that is older than the fleet's memory`;
}

/** An enabled Workflow's request has an owner's entry in the change log, and is in the record before the Workflow exists. */
export const recorded: Invariant = {
  number: 16,
  on: (sim, event) => {
    if (event.kind === "recorded") return olderThanEpoch(sim, event);
    if (event.kind === "created") {
      const { name, deviceId, disabled } = event.workflow;
      if (!disabled) return `${name} is made enabled`;
      if (sim.landing || recordOf(sim, deviceId)?.run?.name === name) return null;
      return sim.ledger.lostSince(event.by?.startedAtMs ?? 0, deviceId, "record", "records")
        ? null
        : `${name} is made, and the record does not name it`;
    }
    if (event.kind !== "enabled") return null;
    const { name, deviceId, requestId } = event.workflow;
    // The record is read right before: what it lost until then, the task has seen.
    const isNoted = recordOf(sim, deviceId)?.run?.name === name;
    const lostNow = sim.ledger.losses.some((loss) => loss.step > (event.by?.callBeforeStep ?? 0));
    if (!isNoted && !sim.landing && !lostNow) return `${name} is enabled, and the record does not name it any more`;
    return sim.ledger.requests.has(`${deviceId} ${requestId}`)
      ? null
      : `${name} is enabled for a request that nobody made`;
  },
};
