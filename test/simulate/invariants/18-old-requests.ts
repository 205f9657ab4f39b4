import type { Invariant } from "./_invariant.ts";

const group = (kind: string) => (kind === "attest" || kind === "retire" ? kind : "install");

/** Whatever is lost: no new Workflow for an old request. */
export const oldRequests: Invariant = {
  number: 18,
  on: (sim, event) => {
    if (event.kind !== "enabled") return null;
    const { workflow } = event;
    const requestAtMs = sim.ledger.requests.get(`${workflow.deviceId} ${workflow.requestId}`)?.atMs ?? 0;
    const later = sim.ledger
      .enabledSinceWord(workflow.deviceId, workflow.requestId)
      .find(
        (e) =>
          group(e.workflow.kind) === group(workflow.kind) &&
          e.requestAtMs >= requestAtMs &&
          !(workflow.kind === "retire" && e.workflow.requestId === workflow.requestId),
      );
    if (later === undefined || sim.ledger.wentBackAtAll(later.atMs, workflow.deviceId)) return null;
    return `${workflow.name} is enabled for a request not newer than that of ${later.workflow.name}`;
  },
};
