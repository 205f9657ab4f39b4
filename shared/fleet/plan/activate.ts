import { isUnfinished, touchesDisk } from "../record.ts";
import { askedInstall } from "../request.ts";
import type { Draft } from "./draft.ts";
import { contextOf } from "./requests.ts";

/** True where its owner set planned after the serving, or another disk run began: active would be a lie, or his word lost. */
function isOvertaken(d: Draft, installed: NonNullable<Draft["record"]["installed"]>): boolean {
  const { run } = d.record;
  if (isUnfinished(run) && touchesDisk(run.kind) && run.name !== installed.run) return true;
  const asked = askedInstall(d.o.device, d.record, contextOf(d));
  return asked.state === "fresh" && asked.request.atMs > installed.servedAtMs;
}

/**
 * Row 14: active once its configuration was served to its last byte, over planned only, and once only. Returns true
 * while that is still to be written: nothing else is begun on such a device.
 */
export function activate(d: Draft): boolean {
  const { installed } = d.record;
  const { status } = d.o.device;
  if (installed === null || installed.activatedAtMs !== null) return false;
  if (status === "planned" && !isOvertaken(d, installed)) {
    // The change log is read only once the run has ended; without it an owner's newer planned would be overwritten.
    if (d.o.changes !== null && !isUnfinished(d.o.record.run)) d.patch({ status: "active" });
    d.again();
    return true;
  }
  d.set({ installed: { ...installed, activatedAtMs: d.o.nowMs } });
  if (status === "active")
    d.say("success", "active", "active: its configuration was served to its last byte", installed.run);
  return false;
}
