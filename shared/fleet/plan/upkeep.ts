import { boundUuid } from "../binding.ts";
import { objectName } from "../device.ts";
import { hardware } from "../manifests/hardware.ts";
import { machine } from "../manifests/machine.ts";
import { isUnfinished } from "../record.ts";
import type { Draft } from "./draft.ts";

/** True where `seen` holds all that `wanted` says (others may add fields, defaults come from the API). */
export function covers(seen: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return Array.isArray(seen) && seen.length === wanted.length && wanted.every((w, i) => covers(seen[i], w));
  if (typeof wanted !== "object" || wanted === null) return seen === wanted;
  if (typeof seen !== "object" || seen === null) return false;
  return Object.entries(wanted).every(([key, w]) => covers((seen as Record<string, unknown>)[key], w));
}

/**
 * The device's one Hardware and, with a BMC, its Machine, run or no run. allowPXE is level-triggered: on exactly while
 * a run is unfinished, and on before its Workflow is made.
 * @see spec/30-reconcile.md "Observed", "Requests"
 */
export function upkeep(d: Draft): void {
  const { o } = d;
  if (o.bootPlane === null) {
    d.condition("BootPlaneUnavailable", "boot-plane-unavailable", "Tinkerbell's API does not answer");
    return;
  }
  const name = objectName(o.device.id);
  const answer = machine(o.device, o.settings);
  if (!answer.ok && answer.reason !== "none") d.condition("BmcRefused", answer.reason, answer.text);
  const run = isUnfinished(d.record.run) ? d.record.run : null;
  // An adopted run may not know its MAC.
  const runMac = run === null || run.mac === "" ? null : run.mac;
  const wanted = hardware(o.device, run !== null, answer.ok, boundUuid(o.device, d.record), runMac);
  const seen = o.bootPlane.hardware.find((h) => h.name === name);
  let changed = false;
  if (answer.ok) {
    const bmc = o.bootPlane.machines.find((m) => m.name === name);
    if (bmc === undefined || !covers(bmc.spec, answer.manifest.spec)) {
      d.effect({ do: "apply-object", manifest: answer.manifest });
      changed = true;
    }
  }
  if (seen === undefined || !covers(seen.spec, wanted.spec)) {
    d.effect({ do: "apply-object", manifest: wanted });
    changed = true;
  }
  if (changed && isUnfinished(d.record.run)) d.again();
}
