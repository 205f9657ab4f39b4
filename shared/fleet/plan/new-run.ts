import { approvedDigests, boundUuid } from "../binding.ts";
import { freezeClass } from "../class.ts";
import { installedClass } from "../judged.ts";
import { type Run, type RunKind, touchesDisk } from "../record.ts";
import type { Draft } from "./draft.ts";

/** What a run's own beginning says of it; all else is frozen from the device as it is, and not begun. */
type Beginning = Pick<
  Run,
  "request" | "attempt" | "name" | "phase" | "mac" | "bootMode" | "startedAtMs" | "enabledAtMs"
> &
  Pick<Run, "actionsChecked" | "verdictAtMs">;

/** A run with class, pin, disk and identity frozen as they are now. @see spec/30-reconcile.md "Requests" */
export function newRun(d: Draft, kind: RunKind, beginning: Beginning): Run {
  const { device, classes, classInputs } = d.o;
  const { installDisk, installDiskSerial } = device;
  return {
    kind,
    ...beginning,
    deviceName: device.name,
    class:
      (kind === "attest" ? installedClass(device, d.record) : null) ??
      freezeClass(device.fleetClass, classes, classInputs),
    disk:
      touchesDisk(kind) && installDisk !== null && installDiskSerial !== null
        ? { device: installDisk, serial: installDiskSerial }
        : null,
    serial: device.serial,
    uuid: boundUuid(device, d.record),
    eks: [...approvedDigests(device.approvedEks)],
    begunAtMs: null,
    diskBegun: false,
    timeoutMs: 0,
    terminal: null,
    result: null,
  };
}
