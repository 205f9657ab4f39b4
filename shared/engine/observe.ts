import { type ClassInputs, type ClassTable, classInputsSchema, classTableSchema } from "../fleet/class.ts";
import { TOKEN_GROUP } from "../fleet/cluster.ts";
import type { Device } from "../fleet/device.ts";
import type { FleetRecord } from "../fleet/fleet-record.ts";
import { nodeName } from "../fleet/installed-name.ts";
import { templateOf } from "../fleet/manifests/workflow.ts";
import type { Observed, SeenCluster } from "../fleet/observed.ts";
import { concernsNode } from "../fleet/plan/cordon.ts";
import { isOrphan } from "../fleet/plan/orphan.ts";
import type { DeviceRecord } from "../fleet/record.ts";
import { asksForRun, keptChanges, needsChanges } from "../fleet/request.ts";
import { PortError } from "../ports/error.ts";
import { type Bulk, type BulkCluster, clusterOf } from "./bulk-views.ts";
import { loadFleet, loadRecord } from "./records.ts";
import { seen } from "./seen.ts";
import type { WholeFleet } from "./whole-fleet.ts";
import type { World } from "./world.ts";

export interface Classes {
  readonly classes: ClassTable;
  readonly classInputs: ClassInputs | null;
}

/** @throws PortError rejected where git's files do not validate. */
export async function currentClasses(world: Pick<World, "policy">): Promise<Classes> {
  const texts = await world.policy.current();
  const classes = classTableSchema.safeParse(texts.classes);
  if (!classes.success) {
    const issue = classes.error.issues[0];
    throw new PortError("rejected", "policy", `FLEET_CLASSES: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`);
  }
  const inputs = texts.classInputs === null ? null : classInputsSchema.safeParse(texts.classInputs);
  if (inputs !== null && !inputs.success)
    throw new PortError("rejected", "policy", "FLEET_CLASS_INPUTS does not validate");
  return { classes: classes.data, classInputs: inputs?.data ?? null };
}

export interface LookContext extends Classes {
  readonly trigger: Observed["trigger"];
  readonly wholeFleet: WholeFleet;
}

/** One look at a device, with what its next write must carry. */
export interface Look {
  readonly observed: Observed;
  readonly resourceVersion: string | null;
  /** As its stored record's labels say it. */
  readonly open: boolean;
  readonly node: string | null;
}

/** The cluster as one device needs it. @throws PortError */
async function readCluster(world: World, nodeName: string, { deviceId, token }: DeviceRecord): Promise<BulkCluster> {
  const nodes = await world.cluster.nodes([nodeName]);
  const csrs = await world.cluster.csrs();
  const tokens = await world.cluster.bootstrapTokens([deviceId]);
  return clusterOf(nodes, csrs, tokens, token !== null && (await world.cluster.othersApprove(TOKEN_GROUP)));
}

async function lookAtCluster(
  world: World,
  device: Device,
  record: DeviceRecord,
  bulk: Bulk | null,
): Promise<SeenCluster | null> {
  const name = nodeName(device, record);
  return seen(world, device.name, async () => {
    const all = bulk === null ? await readCluster(world, name, record) : bulk.cluster;
    if (all === null) return Promise.reject(new PortError("unavailable", "cluster", "not answering"));
    const node = all.nodes.get(name) ?? null;
    const user = record.token === null ? null : `system:bootstrap:${record.token.id}`;
    const draining =
      record.retire !== null && record.retire.drainSinceMs !== null && record.retire.clusterCleanAtMs === null;
    return {
      node,
      csrs: all.csrsOf(user, `system:node:${name}`),
      pods: draining && node !== null ? await world.cluster.pods(name) : null,
      tokens: all.tokensOf(device.id),
      othersApprove: all.othersApprove,
    };
  });
}

/** One look at one device; `bulk` spares the calls that a full pass has made already. */
export async function observeDevice(
  world: World,
  device: Device,
  record: DeviceRecord,
  fleet: FleetRecord,
  context: LookContext,
  bulk: Bulk | null,
): Promise<Observed> {
  const bootPlane =
    bulk !== null
      ? bulk.ofDevice(device.id)
      : await seen(world, device.name, () => world.bootPlane.objects([device.id]));
  const cluster = await lookAtCluster(world, device, record, bulk);
  // When it was asked for, and what was asked since, an adopted run's record can only have from there.
  const adopts = bootPlane?.workflows.some((w) => isOrphan(w, record)) ?? false;
  const changes =
    adopts || needsChanges(device, record)
      ? await seen(world, device.name, () => world.netbox.changes(device.id))
      : keptChanges(device, record);
  const { run } = record;
  const rendered = bootPlane?.workflows.some((w) => w.name === run?.name && w.actions.length > 0) ?? false;
  const template =
    run !== null && run.phase !== "ended" && !run.actionsChecked && rendered
      ? await seen(world, device.name, () => world.bootPlane.template(templateOf(run)))
      : null;
  return {
    nowMs: world.clock.nowMs(),
    template: template?.data ?? null,
    trigger: context.trigger,
    device,
    conflict: asksForRun(device, record, context.trigger) ? await context.wholeFleet.conflictOf(device, record) : null,
    othersNode: concernsNode(record, cluster) ? await context.wholeFleet.othersNodeOf(device, record) : null,
    changes,
    record,
    fleet,
    bootPlane,
    cluster,
    classes: context.classes,
    classInputs: context.classInputs,
    settings: world.settings,
  };
}

/** Reads a device, its record and the fleet's memory afresh; null where NetBox has no such device of the role. */
export async function lookAgain(world: World, deviceId: number, context: LookContext): Promise<Look | null> {
  const device = await world.netbox.device(deviceId);
  if (device === null) return null;
  const { record, resourceVersion, open, node } = await loadRecord(world.records, device);
  const { fleet } = await loadFleet(world);
  const observed = await observeDevice(world, device, record, fleet, context, null);
  return { observed, resourceVersion, open, node };
}
