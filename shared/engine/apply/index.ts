import type { Observed } from "../../fleet/observed.ts";
import { isBlind, isOpen } from "../../fleet/open.ts";
import type { Plan, Step } from "../../fleet/step.ts";
import { PortError } from "../../ports/error.ts";
import type { Look } from "../observe.ts";
import { storeRecord } from "../records.ts";
import type { World } from "../world.ts";
import { leftOwed } from "./left-owed.ts";
import { applyWorldStep } from "./world-steps.ts";

/** A step in words for log and events: names and ids, never a secret. */
function describe(step: Step): string {
  switch (step.do) {
    case "put-record":
      return `run ${step.record.run?.name ?? "none"} ${step.record.run?.phase ?? ""}`.trim();
    case "patch-device":
      return Object.keys(step.patch).join(", ");
    case "journal":
      return step.text;
    case "apply-object":
    case "create-workflow":
    case "create-job":
      return `${step.manifest.kind} ${step.manifest.metadata.name}`;
    case "enable-workflow":
    case "remove-object":
    case "patch-node":
    case "delete-node":
    case "delete-csr":
      return step.name;
    case "approve-csr":
      return step.csr.name;
    case "evict":
      return step.pods.map((p) => p.name).join(", ");
    default:
      return "";
  }
}

/**
 * Performs a device's steps in order and stops at the first that fails; whatever failed is seen again later. Returns
 * the failure, or null where all worked.
 */
export async function applySteps(
  world: World,
  { observed, resourceVersion }: Look,
  { steps, again }: Plan,
): Promise<PortError | null> {
  let recordVersion = resourceVersion;
  let said = observed.record.conditions;
  let amend = (record: Observed["record"]) => record;
  for (const [at, step] of steps.entries()) {
    try {
      if (step.do === "put-record") {
        // Open until nothing follows: what dies or fails in between is seen again by the next pass.
        const follows = again || steps.slice(at + 1).some((s) => s.do !== "put-record");
        const record = amend(step.record);
        const open = follows || isOpen(record) || isBlind(observed);
        recordVersion = (await storeRecord(world.records, record, recordVersion, open)).resourceVersion;
      } else if (step.do === "patch-device") await world.netbox.patchDevice(step.id, step.patch, step.lastUpdated);
      else await applyWorldStep(world, observed.device.id, step);
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      world.event({ kind: "step-failed", device: observed.device.name, code: step.do, text: error.message });
      const owed = leftOwed(step, error, observed.record);
      if (owed === null) return error;
      const before = amend;
      amend = (record) => owed(before(record));
      continue;
    }
    const kind = step.do === "journal" ? "journal" : "step";
    const code = step.do === "journal" ? step.level : step.do;
    world.event({ kind, device: observed.device.name, code, text: describe(step) });
    if (step.do === "put-record") {
      sayConditions(world, observed.device.name, said, step.record.conditions);
      said = step.record.conditions;
    }
  }
  return null;
}

type Conditions = Observed["record"]["conditions"];

function sayConditions(world: World, device: string, old: Conditions, now: Conditions): void {
  const before = new Set(old.map((c) => `${c.type}/${c.reason}/${c.about}`));
  for (const c of now)
    if (!before.has(`${c.type}/${c.reason}/${c.about}`))
      world.event({ kind: "condition", device, code: `${c.type}/${c.reason}`, text: c.message });
}
