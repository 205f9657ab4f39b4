import type { DevicePatch } from "../device.ts";
import type { DeviceRecord, Run } from "../record.ts";
import type { Step } from "../step.ts";

function onDisk(run: Run | null): string {
  return run?.disk == null ? "" : ` on disk ${run.disk.device} (serial ${run.disk.serial})`;
}

function decided(before: DeviceRecord, after: DeviceRecord): string {
  const { run } = after;
  const said: string[] = [];
  if (run !== null && run.name !== before.run?.name) said.push(`the new run ${run.name}: ${run.kind}${onDisk(run)}`);
  else if (run !== null && (run.phase !== before.run?.phase || run.result !== before.run.result))
    said.push(`that run ${run.name} is ${run.result ?? run.phase}`);
  if (after.quarantine !== null && before.quarantine === null) said.push("the quarantine");
  if (after.quarantine === null && before.quarantine !== null) said.push("the quarantine's end");
  if (after.installed === null && before.installed !== null) said.push("that the installed system is gone");
  if (after.config?.state !== before.config?.state)
    said.push(`that the configuration is ${after.config?.state ?? "gone"}`);
  if (after.retire !== null && before.retire === null) said.push("that the retirement begins");
  const names = (r: DeviceRecord) => r.conditions.map((c) => `${c.type}/${c.reason}`);
  const fresh = names(after).filter((name) => !names(before).includes(name));
  const over = names(before).filter((name) => !names(after).includes(name));
  if (fresh.length > 0) said.push(`the condition ${fresh.join(", ")}`);
  if (over.length > 0) said.push(`that ${over.join(", ")} is over`);
  if (said.length === 0 && before.journal.some((l) => !l.sent) && after.journal.every((l) => l.sent))
    return "notes that the journal has these lines";
  return said.length === 0 ? "brings the record up to date" : `writes down ${said.join("; ")}`;
}

const FIELDS: Readonly<Record<keyof DevicePatch, string>> = {
  status: "status",
  desiredAction: "desired_action",
  attestationVerdict: "attestation_verdict",
  attestedAt: "attested_at",
  dbxHash: "dbx_hash",
  sbatLevel: "sbat_level",
  fleetRun: "fleet_run",
  fleetIdentity: "fleet_identity",
};

function patched(patch: DevicePatch): string {
  const names = Object.keys(patch) as (keyof DevicePatch)[];
  const said = names.map((name) => {
    const value = patch[name];
    if (value === null) return `clears ${FIELDS[name]}`;
    return typeof value === "string" ? `sets ${FIELDS[name]} to ${value}` : `shows ${FIELDS[name]}`;
  });
  return `in NetBox: ${said.join(", ")}`;
}

function held({ name, patch }: Extract<Step, { do: "patch-node" }>): string {
  if (patch.quarantineTaint) return `cordons and taints Node ${name}`;
  return patch.unschedulable ? `cordons Node ${name}` : `takes fleetd's cordon from Node ${name}`;
}

/** A step as a person reads it, with every object and disk by name; never a secret. `before` is the record until then. */
export function stepWords(step: Step, before: DeviceRecord): string {
  switch (step.do) {
    case "put-record":
      return decided(before, step.record);
    case "patch-device":
      return patched(step.patch);
    case "journal":
      return `in NetBox's journal, as ${step.level}: ${step.text.replace(/ \[fleetd [0-9a-f]+\]$/, "")}`;
    case "take-slot":
      return `takes a slot for disk runs, for ${step.run}`;
    case "free-slot":
      return "frees its slot for disk runs";
    case "apply-object": {
      const { kind, metadata, spec } = step.manifest;
      if (kind === "Machine") return `writes Machine ${metadata.name}: its BMC`;
      const may = spec.interfaces.some((i) => i.netboot.allowPXE);
      return `writes Hardware ${metadata.name}: the machine ${may ? "may" : "may not"} netboot`;
    }
    case "create-workflow": {
      const { metadata, spec } = step.manifest;
      const boots = spec.bootOptions === undefined ? "" : "; the BMC will netboot the machine";
      return `creates Workflow ${metadata.name} of Template ${spec.templateRef}${onDisk(before.run)}, disabled${boots}`;
    }
    case "create-job":
      return `creates Job ${step.manifest.metadata.name}: the BMC turns the machine off`;
    case "enable-workflow":
      return `enables Workflow ${step.name}: the machine may carry it out${onDisk(before.run)}`;
    case "remove-object":
      return `deletes ${step.kind} ${step.name}`;
    case "patch-node":
      return held(step);
    case "evict":
      return `evicts ${step.pods.map((p) => `${p.namespace}/${p.name}`).join(", ")}`;
    case "delete-node":
      return `deletes Node ${step.name}`;
    case "approve-csr":
      return `approves CSR ${step.csr.name}`;
    case "delete-csr":
      return `deletes CSR ${step.name}`;
    case "create-token":
      return "makes the node's bootstrap token";
    case "delete-token":
      return `deletes bootstrap token ${step.id}`;
    case "drop-config":
      return "deletes the stored configuration";
    case "keep-config":
      return "keeps the stored configuration for longer";
    default:
      return step satisfies never;
  }
}
