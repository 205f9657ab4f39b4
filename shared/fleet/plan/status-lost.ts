import { isUnfinished } from "../record.ts";
import type { Draft } from "./draft.ts";

/** When an owner last gave the device this status (none: any), by the change log; 0 where it does not say. */
function setByOwnerMs(d: Draft, status?: string): number {
  const { changes, settings } = d.o;
  const entry = changes?.find(
    ({ user, before, after }) =>
      user !== settings.netboxUser &&
      after !== null &&
      (status === undefined || after.status === status) &&
      before?.status !== after.status,
  );
  return entry?.atMs ?? 0;
}

/**
 * Row 34: the status that NetBox shows is older than fleetd's own last one, and no owner's word: somebody's older row was
 * saved over it. It is written again. True while it is to be written: nothing is decided on the old one.
 * @see spec/35-lifecycle-table.md row 34
 */
export function statusLost(d: Draft): boolean {
  const { record, o } = d;
  const { run, retire, installed } = record;
  const { status } = o.device;
  if (o.changes === null) return false;
  const reinstalls = isUnfinished(run) && (run.kind === "provision" || run.kind === "wipe");
  if (status === "active" && reinstalls && installed?.run !== run.name) {
    if (setByOwnerMs(d, "active") > run.request.atMs) return false;
    d.patch({ status: "planned" });
    d.say("warning", "status-lost", "an older row was saved over planned: planned again", run.name);
  } else if (
    (status === "decommissioning" || status === "planned") &&
    retire?.offlineAtMs != null &&
    // What an owner set offline by hand was his word, and went with it.
    retire.erasedAtMs !== null &&
    retire.offAtMs !== null &&
    installed === null &&
    !isUnfinished(run) &&
    (run === null || run.kind === "retire")
  ) {
    // Also where fleetd itself set planned since, for a provision of a device that its owner had set active.
    if (setByOwnerMs(d) > retire.request.atMs) return false;
    d.patch({ status: "offline" });
    d.say("warning", "status-lost", "an older row was saved over offline: offline again", retire.request.id);
  } else return false;
  d.again();
  return true;
}
