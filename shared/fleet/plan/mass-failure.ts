import type { AcceptedMass } from "../fleet-record.ts";
import type { DeviceRecord, VerdictRecord } from "../record.ts";
import type { Draft } from "./draft.ts";
import { withCause } from "./quarantine.ts";

/** The failed verdict of an installed worker that quarantined nobody, since so many failed at once; else null. */
export function heldBackFailure({
  verdict,
  installed,
}: Pick<DeviceRecord, "verdict" | "installed">): VerdictRecord | null {
  const worker = installed?.class.class.workload === "worker";
  return worker && verdict?.result === "fail" && verdict.heldBack === true ? verdict : null;
}

/** Whether an administrator's word covers a failure: it is not younger than the word. */
export function isFailureAccepted(verdict: VerdictRecord, word: AcceptedMass | null): boolean {
  return word !== null && verdict.atMs <= word.atMs;
}

/**
 * One of too many failures at once is a condition only, until an administrator says that they are real.
 * @see spec/30-reconcile.md "SPIRE and quarantine"
 */
export function settleHeldBack(d: Draft): void {
  const verdict = heldBackFailure(d.record);
  if (verdict === null) return;
  const { acceptedFailures: word } = d.o.fleet;
  const about = String(verdict.atMs);
  if (!isFailureAccepted(verdict, word)) {
    d.condition(
      "MassFailure",
      "held-back",
      "its quote was refused among many others: not quarantined; mend the profile, or fleetctl accept --failures",
      about,
    );
    return;
  }
  const { name } = d.o.device;
  const cause = { by: verdict.by, sinceMs: d.o.nowMs, node: name };
  d.set({ verdict: { ...verdict, heldBack: false }, quarantine: withCause(d.record.quarantine, cause) });
  d.say("warning", "failure-accepted", `${word?.by ?? ""} accepted that its failure is real: it is quarantined`, about);
}
