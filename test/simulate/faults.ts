import { PortError } from "../../shared/ports/error.ts";

/** What goes wrong with one call of a port. */
export type CallFault = "before" | "after" | "conflict" | "stale" | "late" | "killed";
export const CALL_FAULTS: readonly CallFault[] = ["before", "after", "conflict", "stale", "late", "killed"];

const READS = new Set([
  ...[
    "netbox.devices",
    "netbox.device",
    "netbox.changes",
    "netbox.changedSince",
    "netbox.gatewaysOf",
    "netbox.journalHas",
  ],
  ...["bootPlane.objects", "bootPlane.template", "cluster.nodes", "cluster.pods", "cluster.csrs"],
  ...[
    "cluster.othersApprove",
    "cluster.bootstrapTokens",
    "records.all",
    "records.open",
    "records.of",
    "records.get",
    "records.byUuid",
    "records.byNode",
  ],
  ...["records.fleet", "store.get", "store.list", "files.readSpireNodes", "time.sleep", "signer.sign"],
]);
/** A replica or cache may answer these with what was true a moment ago. */
const STALE = new Set([
  ...["netbox.devices", "netbox.device", "bootPlane.objects", "cluster.nodes", "cluster.pods", "cluster.csrs"],
  "cluster.bootstrapTokens",
]);
const CONFLICTS = new Set([
  ...["netbox.patchDevice", "records.put", "records.putFleet", "bootPlane.enableWorkflow", "bootPlane.remove"],
  ...["cluster.patchNode", "cluster.deleteNode", "cluster.approve"],
]);

/** Whether a fault can happen to a call. */
export function fits(fault: CallFault, call: string): boolean {
  if (call === "time.sleep" || call.startsWith("reader.")) return fault === "killed";
  switch (fault) {
    case "conflict":
      return CONFLICTS.has(call);
    case "stale":
      return STALE.has(call);
    // A store that was asked to lock or claim long ago does so no more: its clients give a command up with its connection.
    case "late":
      return !READS.has(call) && !call.startsWith("store.") && !call.startsWith("files.");
    default:
      return true;
  }
}

export function isRead(call: string): boolean {
  return READS.has(call);
}

export function unavailable(port: string, words: string): PortError {
  return new PortError("unavailable", port, words);
}
