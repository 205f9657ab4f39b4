import type { ChangeEntry } from "../../../shared/fleet/device.ts";
import type { Sim } from "../sim.ts";
import type { Invariant } from "./_invariant.ts";
import { recordOf } from "./truth.ts";

/** A store has nothing to do with requests. */
const LOSSES = ["record", "records", "tinkerbell", "netbox", "fleet"] as const;

function askedBy(sim: Sim, deviceId: number, action: string): ChangeEntry | undefined {
  return (sim.netbox.log.get(deviceId) ?? []).find(
    (e) =>
      e.user !== sim.settings.netboxUser && e.after?.desiredAction === action && e.before?.desiredAction !== action,
  );
}

/** An owner's fresh request is never lost: consumed by a run, or pending with a reason that can be read. */
export const requests: Invariant = {
  number: 10,
  on: (sim, event) => {
    if (event.kind !== "patched" || event.patch.desiredAction !== null) return null;
    const { id, desiredAction, status } = event.before;
    if (desiredAction === null || event.patch.status === "offline" || status === "decommissioning") return null;
    const entry = askedBy(sim, id, desiredAction);
    if (entry === undefined || sim.ledger.lostSince(entry.atMs, id, ...LOSSES)) return null;
    // Its owner asked for something else since: only somebody's old row shows it again.
    const owners = (sim.netbox.log.get(id) ?? []).filter((e) => e.user !== sim.settings.netboxUser);
    const isReplaced = (e: ChangeEntry) =>
      e.atMs > entry.atMs && e.before?.desiredAction === desiredAction && e.after?.desiredAction !== desiredAction;
    if (owners.some(isReplaced)) return null;
    // fleetd answered it before, and was judged for that then: somebody's old row brought it back.
    const log = sim.netbox.log.get(id) ?? [];
    const since = log.slice(0, log.indexOf(entry));
    if (since.some((e) => e.before?.desiredAction === desiredAction && e.after?.desiredAction === null)) return null;
    const retired = sim.netbox.log.get(id)?.some((e) => e.atMs >= entry.atMs && e.after?.status === "decommissioning");
    if (status === "offline" && retired === true) return null;
    const group = (kind: string) => (kind === "attest" ? "attest" : kind === "retire" ? "retire" : "install");
    const served = sim.ledger.enabled.some(
      (e) =>
        e.workflow.deviceId === id &&
        (e.workflow.requestId === entry.requestId ||
          // A retirement asked for later stands above it (row 12).
          ((group(e.workflow.kind) === group(desiredAction) || e.workflow.kind === "retire") &&
            e.requestAtMs >= entry.atMs) ||
          // Carried out by a run of its kind that was under way.
          (e.workflow.kind === desiredAction && sim.ledger.usedUp.has(`${id} ${entry.requestId}`))),
    );
    return served
      ? null
      : `device ${id}'s ${desiredAction} of ${entry.requestId} is cleared, and nothing carried it out`;
  },
  atRest: (sim) => {
    for (const row of sim.netbox.rows.values()) {
      const record = recordOf(sim, row.id);
      if (row.desiredAction === null || !["provision", "attest", "wipe"].includes(row.desiredAction)) continue;
      if (record === null || record.conditions.length === 0)
        return `device ${row.id} (${row.status}) asks for ${row.desiredAction}, and nothing says why it waits`;
    }
    return null;
  },
};
