import { touchesDisk } from "../../fleet/record.ts";
import { freeSlot, takeSlot } from "../../fleet/slots.ts";
import type { Step } from "../../fleet/step.ts";
import { PortError } from "../../ports/error.ts";
import { loadFleet, loadRecord, updateFleet } from "../records.ts";
import type { World } from "../world.ts";

/** Steps that need no memory of the ones before them; `put-record` and `patch-device` do, and live in index.ts. */
export type WorldStep = Exclude<Step, { do: "put-record" | "patch-device" }>;

async function enable(
  world: World,
  deviceId: number,
  step: Extract<WorldStep, { do: "enable-workflow" }>,
): Promise<void> {
  // The record is read again right before: a run that another pass withdrew meanwhile is not enabled.
  const { record } = await loadRecord(world.records, { id: deviceId, name: "" });
  if (record.run?.name !== step.name || record.run.phase !== "starting")
    throw new PortError("conflict", "records", `the record does not want ${step.name} any more`);
  if (touchesDisk(record.run.kind)) {
    const { fleet } = await loadFleet(world);
    if (!fleet.slots.some((s) => s.deviceId === deviceId && s.run === step.name))
      throw new PortError("conflict", "records", `${step.name} has no slot any more`);
  }
  await world.bootPlane.enableWorkflow(step.name, step.uid, step.resourceVersion);
}

async function journal(world: World, step: Extract<WorldStep, { do: "journal" }>): Promise<void> {
  if (step.lookFirst && (await world.netbox.journalHas(step.id, step.mark))) return;
  await world.netbox.addJournal(step.id, step.level, step.text);
}

async function slot(world: World, step: Extract<WorldStep, { do: "take-slot" }>): Promise<void> {
  const ask = { ...step, max: world.settings.maxDiskRuns };
  const taken = await updateFleet(world, (fleet) => takeSlot(fleet, ask, world.clock.nowMs()));
  if (taken === null) throw new PortError("conflict", "records", "all slots for disk runs are taken");
}

/** Performs one step through its port; exhaustive by type. */
export async function applyWorldStep(world: World, deviceId: number, step: WorldStep): Promise<void> {
  switch (step.do) {
    case "take-slot":
      return slot(world, step);
    case "free-slot":
      await updateFleet(world, (fleet) => freeSlot(fleet, step.deviceId));
      return;
    case "journal":
      return journal(world, step);
    case "apply-object":
      return world.bootPlane.apply(step.manifest);
    case "create-workflow":
    case "create-job":
      return world.bootPlane.create(step.manifest);
    case "enable-workflow":
      return enable(world, deviceId, step);
    case "remove-object":
      return world.bootPlane.remove(step.kind, step.name, step.uid, step.resourceVersion);
    case "patch-node":
      return world.cluster.patchNode(step.name, step.uid, step.patch);
    case "evict":
      for (const pod of step.pods) await world.cluster.evict(pod);
      return;
    case "delete-node":
      return world.cluster.deleteNode(step.name, step.uid);
    case "approve-csr":
      return world.cluster.approve(step.csr, step.message);
    case "delete-csr":
      return world.cluster.deleteCsr(step.name, step.uid);
    case "create-token":
      return world.cluster.createToken(step.token, step.secret);
    case "delete-token":
      return world.cluster.deleteToken(step.id);
    case "drop-config":
      return world.store.dropConfig(step.deviceId, step.consumed);
    case "keep-config":
      await world.store.keepConfig(step.deviceId, step.ttlMs);
      return;
    default:
      return step satisfies never;
  }
}
