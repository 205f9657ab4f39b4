import { isUnfinished } from "../record.ts";
import { askedAction, isPlannedAnew } from "../request.ts";
import type { Draft } from "./draft.ts";
import { contextOf } from "./requests.ts";

/** True where its owner set planned after the install, or asks for another: active would take that word away. */
function isOvertaken(d: Draft): boolean {
  const context = contextOf(d);
  if (isPlannedAnew(d.record, context)) return true;
  const asked = askedAction(d.o.device, d.record, context);
  return asked.state === "fresh" && asked.request.kind !== "attest";
}

/**
 * Row 14: active once its configuration was served to its last byte, over planned only; row 34: again where somebody's
 * older row took that away, as long as nothing followed the install. Returns true while it is still to be written:
 * nothing else is begun on such a device.
 */
export function activate(d: Draft): boolean {
  const { installed, run } = d.record;
  const { status } = d.o.device;
  if (installed === null) return false;
  if (status === "planned" && run?.name === installed.run) {
    // The change log is read only once the run has ended; without it an owner's newer planned would be overwritten.
    const isReadable = d.o.changes !== null && !isUnfinished(d.o.record.run);
    if (!isReadable || !isOvertaken(d)) {
      if (isReadable) d.patch({ status: "active" });
      d.again();
      return true;
    }
  }
  if (installed.activatedAtMs !== null) return false;
  d.set({ installed: { ...installed, activatedAtMs: d.o.nowMs } });
  if (status === "active")
    d.say("success", "active", "active: its configuration was served to its last byte", installed.run);
  return false;
}
