import type { Device } from "../../../shared/fleet/device.ts";
import type { DeviceRecord } from "../../../shared/fleet/record.ts";
import type { Sim } from "../sim.ts";
import type { Task } from "../task.ts";
import type { Invariant } from "./_invariant.ts";
import { rowWas } from "./truth.ts";

/** What a record says of an end with SUCCESS is what an agent said of every action, in order. */
function erasedInTruth(sim: Sim, { run }: DeviceRecord): string | null {
  if (run?.terminal?.state !== "SUCCESS" || run.result === "success") return null;
  const isTrue = sim.ledger.succeeded.some((s) => s.workflow.name === run.name);
  return isTrue ? null : `${run.name} counts as ${run.result}, and its agent never said so of every action in order`;
}

/**
 * Another device's Node; or one of whom nobody can know whose it is, where the device was never served, as far as fleetd
 * remembers, and is named as another is.
 */
function isAnothers(sim: Sim, { id, name }: Pick<Device, "id" | "name">, uid: string, by: Task): boolean {
  const run = sim.ledger.joined.get(uid);
  if (run !== undefined && run.workflow.deviceId !== id) return true;
  const others = [...sim.ledger.rows.keys()].filter((other) => other !== id);
  const isNamesake = others.some((other) => rowWas(sim, other, by, (r) => r.name === name && r.status !== "offline"));
  return isNamesake && (!sim.ledger.wasServed(id) || sim.ledger.lostSince(0, id, "record", "records"));
}

/** fleetd writes offline only after: erased, off by evidence made afterwards, Node, CSRs and token gone. */
export const offline: Invariant = {
  number: 7,
  on: (sim, event) => {
    if (event.kind === "recorded") return erasedInTruth(sim, event.record);
    if (event.kind !== "patched" || event.patch.status !== "offline") return null;
    const { id, name, status } = event.before;
    const { succeeded, offJobs, requests } = sim.ledger;
    // Row 34: written again where an older row took fleetd's own offline away.
    const isAgain = sim.ledger.rowWas(id, 0, (row) => row.status === "offline");
    if (status !== "decommissioning" && !isAgain) return `device ${id} becomes offline over ${status}`;
    const erased = succeeded.filter((s) => s.workflow.deviceId === id && s.workflow.kind === "retire").at(-1);
    if (erased === undefined) return `device ${id} becomes offline, but no retirement has erased it`;
    const request = requests.get(`${id} ${erased.workflow.requestId}`);
    if (request === undefined) return `device ${id} becomes offline by a retirement that nobody asked for`;
    const hasBmc = !rowWas(sim, id, null, (row) => row.bmcType !== "redfish" || row.oobAddress !== `10.9.0.${id}`);
    if (hasBmc && !offJobs.some((j) => j.deviceId === id && j.madeAtMs >= erased.atMs))
      if (!sim.ledger.bmcChanged(id)) return `device ${id} becomes offline, but nothing shows it off after its erasure`;
    if (event.by === null || event.by.faultyPorts.has("cluster")) return null;
    const node = sim.cluster.nodeList.find((n) => n.name === name && n.createdAtMs < (event.by?.startedAtMs ?? 0));
    if (node !== undefined && !isAnothers(sim, event.before, node.uid, event.by))
      return `device ${id} becomes offline with its Node ${node.uid} in the cluster`;
    const token = [...sim.cluster.tokens.values()].find((t) => t.deviceId === id);
    return token === undefined ? null : `device ${id} becomes offline with token ${token.id} alive`;
  },
};
