import type { BootPlaneObjects } from "../fleet/boot-plane.ts";
import { type ClassInputs, type ClassTable, classInputsSchema, classTableSchema } from "../fleet/class.ts";
import { type CsrView, type NodeView, TOKEN_GROUP } from "../fleet/cluster.ts";
import type { Device } from "../fleet/device.ts";
import type { FleetRecord } from "../fleet/fleet-record.ts";
import { nodeName } from "../fleet/installed-name.ts";
import { templateOf } from "../fleet/manifests/workflow.ts";
import type { Observed, SeenCluster } from "../fleet/observed.ts";
import { isOrphan } from "../fleet/plan/orphan.ts";
import type { DeviceRecord } from "../fleet/record.ts";
import { asksForRun, keptChanges, needsChanges } from "../fleet/request.ts";
import { PortError } from "../ports/error.ts";
import { loadFleet, loadRecord } from "./records.ts";
import type { WholeFleet } from "./whole-fleet.ts";
import type { World } from "./world.ts";

/** Asks a peer; one that is down becomes null and an event, never a throw: the planner does what is safe without it. */
export async function seen<T>(world: World, device: string, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    world.event({ kind: "peer-down", device, code: error.port, text: error.message });
    return null;
  }
}

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

/** What a pass read in bulk, so that no device costs a call of its own until it has something to do. */
export interface Bulk {
  readonly bootPlane: BootPlaneObjects | null;
  readonly nodes: readonly NodeView[] | null;
  readonly csrs: readonly CsrView[] | null;
  readonly othersApprove: boolean;
}

export interface LookContext extends Classes {
  readonly passStartMs: number;
  readonly trigger: Observed["trigger"];
  readonly wholeFleet: WholeFleet;
}

/** One look at a device, with what its next write must carry. */
export interface Look {
  readonly observed: Observed;
  readonly resourceVersion: string | null;
  /** As its stored record says it. */
  readonly open: boolean;
}

/** What of the boot plane is this device's. */
export function ofDevice(objects: BootPlaneObjects, deviceId: number): BootPlaneObjects {
  const own = <T extends { deviceId: number }>(list: readonly T[]) => list.filter((o) => o.deviceId === deviceId);
  return {
    hardware: own(objects.hardware),
    workflows: own(objects.workflows),
    machines: own(objects.machines),
    jobs: own(objects.jobs),
  };
}

async function lookAtCluster(
  world: World,
  device: Device,
  record: DeviceRecord,
  bulk: Bulk | null,
): Promise<SeenCluster | null> {
  const name = nodeName(device, record);
  return seen(world, device.name, async () => {
    if (bulk !== null && (bulk.nodes === null || bulk.csrs === null))
      return Promise.reject(new PortError("unavailable", "cluster", "not answering"));
    // A renamed device's Node has the name that it was installed with, which no bulk read asked for.
    const nodes = (name === device.name ? bulk?.nodes : null) ?? (await world.cluster.nodes([name]));
    const node = nodes.find((n) => n.name === name) ?? null;
    const csrs = bulk?.csrs ?? (await world.cluster.csrs());
    const user = record.token === null ? null : `system:bootstrap:${record.token.id}`;
    const subject = `system:node:${name}`;
    const draining =
      record.retire !== null && record.retire.drainSinceMs !== null && record.retire.clusterCleanAtMs === null;
    return {
      node,
      csrs: csrs.filter((c) => c.username === user || c.request?.commonName === subject),
      pods: draining && node !== null ? await world.cluster.pods(name) : null,
      othersApprove: bulk?.othersApprove ?? (record.token !== null && (await world.cluster.othersApprove(TOKEN_GROUP))),
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
      ? bulk.bootPlane && ofDevice(bulk.bootPlane, device.id)
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
    passStartMs: context.passStartMs,
    trigger: context.trigger,
    device,
    conflict: asksForRun(device, record) ? await context.wholeFleet.conflictOf(device, record) : null,
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
  const { record, resourceVersion, open } = await loadRecord(world.records, device);
  const { fleet } = await loadFleet(world);
  const observed = await observeDevice(world, device, record, fleet, context, null);
  return { observed, resourceVersion, open };
}
