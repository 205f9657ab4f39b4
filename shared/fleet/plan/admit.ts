import { isName } from "../conflicts.ts";
import { isExpected } from "../device.ts";
import type { Observed } from "../observed.ts";
import { type DeviceRecord, isUnfinished, type Run } from "../record.ts";
import { hasMovedUnder } from "../same-machine.ts";

export type AdmissionAnswer =
  | { readonly outcome: "install"; readonly run: Run }
  | { readonly outcome: "attested" }
  | { readonly outcome: "wait"; readonly code: string; readonly text: string };

/** The action that stores the code on the machine's disk: after it, a new code would reach nobody. */
const STORES_CODE = new Set(["install-talos", "seed", "write-image"]);

function waitReason(record: DeviceRecord): AdmissionAnswer {
  for (const type of ["RequestHeld", "RequestWaits", "MacUnknown", "RequestsUnreadable", "BootPlaneUnavailable"]) {
    const c = record.conditions.find((one) => one.type === type);
    if (c !== undefined) return { outcome: "wait", code: c.reason, text: c.message };
  }
  return { outcome: "wait", code: "no-request", text: "no fresh request: nothing is installed by itself" };
}

function provisioning(o: Observed, run: Run): AdmissionAnswer {
  const { config } = o.record;
  const mine = config !== null && config.run === run.name ? config : null;
  if (mine?.state === "serving")
    return { outcome: "wait", code: "config-being-served", text: "the configuration is being served right now" };
  if (mine?.state === "served" || mine?.state === "lost") return { outcome: "attested" };
  if (run.class?.class.payload === "none" || run.class === null) return { outcome: "attested" };
  const workflow = o.bootPlane?.workflows.find((w) => w.name === run.name);
  if (workflow?.actions.some((a) => STORES_CODE.has(a.name) && a.state === "SUCCESS")) return { outcome: "attested" };
  if (o.device.status !== "planned")
    return { outcome: "wait", code: "not-planned", text: `the device is ${o.device.status} now` };
  // A run that has begun waits for this very code: its owner's word still counts before the disk is touched.
  if (o.device.protected && !run.diskBegun)
    return { outcome: "wait", code: "protected", text: "the device is protected" };
  // It would be configured with a name that it was given since the run began.
  if (!isName(o.device.name))
    return { outcome: "wait", code: "name-invalid", text: `the name ${o.device.name} is no DNS label of at most 40` };
  if (o.conflict !== null) return { outcome: "wait", code: "inventory-conflict", text: o.conflict };
  if (hasMovedUnder(o.device, run))
    return { outcome: "wait", code: "identity-changed", text: "serial or approved EKs changed under the run" };
  if (run.phase === "starting")
    return { outcome: "wait", code: "run-preparing", text: "the run is being prepared; attest again" };
  return { outcome: "install", run };
}

/**
 * What a machine that has confirmed is told, from the record as the planner left it.
 * @see spec/10-protocol.md section 3
 */
export function admissionAnswer(o: Observed): AdmissionAnswer {
  const { device, record } = o;
  const { run } = record;
  if (!isExpected(device.status))
    return { outcome: "wait", code: "not-expected", text: `the device's status is ${device.status}` };
  // A confirm's session may be older than the last evidence: the verdict that counts is the record's.
  if (record.verdict?.result === "fail")
    return { outcome: "wait", code: record.verdict.codes[0] ?? "quote-invalid", text: "a later quote was refused" };
  if (isUnfinished(run)) return run.kind === "provision" ? provisioning(o, run) : { outcome: "attested" };
  if (device.status === "decommissioning")
    return record.retire?.erasedAtMs == null
      ? { outcome: "wait", code: "run-preparing", text: "the retirement is being prepared" }
      : { outcome: "attested" };
  if (run?.result === "unread" || device.status === "active") return { outcome: "attested" };
  return waitReason(record);
}

/** The record after its machine booted HookOS again with the configuration unread after SUCCESS. */
export function withHookosAgain(record: DeviceRecord, nowMs: number): DeviceRecord {
  const { run, config } = record;
  if (run?.result !== "unread" || config?.state !== "unread" || config.run !== run.name) return record;
  return config.hookosAgainAtMs !== null ? record : { ...record, config: { ...config, hookosAgainAtMs: nowMs } };
}
