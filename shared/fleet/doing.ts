import type { Device } from "./device.ts";
import { type DeviceRecord, isUnfinished } from "./record.ts";

/** What goes on with a device, in a few words for a list. */
export function doing({ status }: Pick<Device, "status">, record: DeviceRecord): string {
  const { run, retire, config, quarantine, installed } = record;
  if (isUnfinished(run)) return `${run.kind}: ${run.phase}`;
  if (status === "decommissioning") {
    if (retire === null || retire.offlineAtMs !== null) return "to be retired";
    if (retire.erasedAtMs === null) return "retire: to be erased";
    return retire.offAtMs === null ? "retire: erased, to be off" : "retire: off, to be drained";
  }
  if (quarantine !== null) return "quarantined";
  if (status === "planned" && (config?.state === "unread" || config?.state === "serving"))
    return "installed, to be configured";
  if (status === "planned") return "waits";
  if (status === "active") return installed === null ? "not installed by fleetd" : "installed";
  if (status === "offline") return retire === null ? "not retired by fleetd" : "retired";
  return "left alone";
}
