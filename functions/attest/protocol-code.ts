import { isReason, type ReasonOf } from "../../shared/fleet/condition.ts";

/** Reasons of conditions that are no codes of the device protocol, and the code that a machine is told for them. */
const CODES: Readonly<Record<string, ReasonOf<"MachineWaits">>> = {
  "address-missing": "pin-incomplete",
  "change-log": "inventory-unavailable",
  "mac-unknown": "interface-ambiguous",
  "cluster-token": "request-held",
};

/** The protocol's code for a planner's reason: its own where it is one, a plain wait where nobody named another. */
export function protocolCode(reason: string): ReasonOf<"MachineWaits"> {
  if (isReason("MachineWaits", reason)) return reason;
  return (Object.hasOwn(CODES, reason) ? CODES[reason] : undefined) ?? "run-preparing";
}
