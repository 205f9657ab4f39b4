import type { ConditionType } from "./condition.ts";
import type { Observed } from "./observed.ts";
import { type DeviceRecord, isUnfinished } from "./record.ts";

/** Conditions that may end without the device's row moving: their devices are looked at in every pass. */
const PENDING: ReadonlySet<string> = new Set<ConditionType>([
  "RequestWaits",
  "RequestsUnreadable",
  "RetirementWaits",
  "RetirementStuck",
  "BootPlaneUnavailable",
  "ClusterUnavailable",
  "NodeMissing",
]);

/**
 * Whether a pass between walks has to look at the device though nothing of it moved in NetBox: something is under way,
 * owed, held down every pass, or waits for what its row does not tell.
 * @see spec/30-reconcile.md "Observed" (the rows of open records)
 */
export function isOpen(record: DeviceRecord): boolean {
  const { run, retire, config, token, installed, quarantine } = record;
  return (
    isUnfinished(run) ||
    (retire !== null && retire.offlineAtMs === null) ||
    config?.state === "unread" ||
    config?.state === "serving" ||
    (token !== null && token.deletedAtMs === null) ||
    (installed !== null && installed.activatedAtMs === null) ||
    quarantine !== null ||
    record.due.length > 0 ||
    record.journal.some((line) => !line.sent) ||
    record.conditions.some((c) => PENDING.has(c.type))
  );
}

/** Whether a look was without a peer: what it would have shown is still to be seen, and the device does not rest yet. */
export function isBlind({ bootPlane, cluster, changes }: Pick<Observed, "bootPlane" | "cluster" | "changes">): boolean {
  return bootPlane === null || cluster === null || changes === null;
}
