import type { Invariant } from "./_invariant.ts";
import { recordOf } from "./truth.ts";

/** An enabled Workflow's request has an owner's entry in the change log, and is in the record before the Workflow exists. */
export const recorded: Invariant = {
  number: 16,
  on: (sim, event) => {
    if (event.kind === "created") {
      const { name, deviceId, disabled } = event.workflow;
      if (!disabled) return `${name} is made enabled`;
      if (sim.landing || recordOf(sim, deviceId)?.run?.name === name) return null;
      return sim.ledger.lostSince(event.by?.startedAtMs ?? 0)
        ? null
        : `${name} is made, and the record does not name it`;
    }
    if (event.kind !== "enabled") return null;
    const { name, deviceId, requestId } = event.workflow;
    return sim.ledger.requests.has(`${deviceId} ${requestId}`)
      ? null
      : `${name} is enabled for a request that nobody made`;
  },
};
