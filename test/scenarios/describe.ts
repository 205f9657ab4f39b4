import type { Step } from "../../shared/fleet/step.ts";

/** One step as a line of a golden file: what and which, without what changes from run to run. */
export function describeStep(step: Step): string | null {
  switch (step.do) {
    case "put-record": {
      const { run } = step.record;
      const said = step.record.conditions.map((c) => `${c.type}/${c.reason}`).join(" ");
      return `record: run ${run === null ? "none" : `${run.kind} ${run.result ?? run.phase}`}${said === "" ? "" : ` | ${said}`}`;
    }
    case "patch-device":
      return `netbox: ${Object.entries(step.patch)
        .map(([k, v]) => `${k}=${typeof v === "object" && v !== null ? "…" : String(v)}`)
        .join(" ")}`;
    case "journal":
      return `journal ${step.level}: ${step.text.replace(/ \[fleetd [0-9a-f]+\]$/, "")}`;
    case "apply-object":
      return `apply ${step.manifest.kind}${step.manifest.kind === "Hardware" ? ` allowPXE=${step.manifest.spec.interfaces[0]?.netboot.allowPXE ?? "-"}` : ""}`;
    case "create-workflow":
      return `create Workflow ${step.manifest.metadata.name}${step.manifest.spec.bootOptions ? " bootMode=netboot" : ""}`;
    case "create-job":
      return `create Job ${step.manifest.metadata.name}`;
    case "enable-workflow":
      return `enable Workflow ${step.name}`;
    case "remove-object":
      return `delete ${step.kind} ${step.name}`;
    case "patch-node":
      return `node: unschedulable=${step.patch.unschedulable} taint=${step.patch.quarantineTaint} reason=${step.patch.cordonReason}`;
    case "evict":
      return `evict ${step.pods.map((p) => p.name).join(" ")}`;
    case "approve-csr":
      return `approve CSR ${step.csr.name}`;
    case "take-slot":
    case "free-slot":
      return step.do;
    default:
      return `${step.do} ${"name" in step ? step.name : "id" in step ? step.id : ""}`.trim();
  }
}
