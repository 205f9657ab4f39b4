import type { BootPlaneObjects } from "../fleet/boot-plane.ts";
import type { CsrView, NodeView, TokenView } from "../fleet/cluster.ts";

/** What a pass read in bulk, so that no device costs a call of its own until it has something to do. */
export interface Bulk {
  /** All that was read; null where the boot plane did not answer. */
  readonly bootPlane: BootPlaneObjects | null;
  ofDevice(deviceId: number): BootPlaneObjects | null;
  /** Null where the cluster did not answer. */
  readonly cluster: BulkCluster | null;
}

export interface BulkCluster {
  readonly nodes: ReadonlyMap<string, NodeView>;
  readonly othersApprove: boolean;
  /** Those made by a user or for a common name. */
  csrsOf(user: string | null, commonName: string): readonly CsrView[];
  /** Bootstrap tokens labelled as the device's. */
  tokensOf(deviceId: number): readonly TokenView[];
}

export const NOTHING: BootPlaneObjects = { hardware: [], workflows: [], machines: [], jobs: [] };

function grouped<T, K>(list: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of list) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}

/** Looked up by device, not searched: a pass over n devices asks n times. */
export function byDevice(objects: BootPlaneObjects): (deviceId: number) => BootPlaneObjects {
  const of = <T extends { readonly deviceId: number }>(list: readonly T[]) => grouped(list, (one) => one.deviceId);
  const [hardware, workflows] = [of(objects.hardware), of(objects.workflows)];
  const [machines, jobs] = [of(objects.machines), of(objects.jobs)];
  return (id) => ({
    hardware: hardware.get(id) ?? [],
    workflows: workflows.get(id) ?? [],
    machines: machines.get(id) ?? [],
    jobs: jobs.get(id) ?? [],
  });
}

/** What of the cluster may be asked for by device. */
export function clusterOf(
  nodes: readonly NodeView[],
  csrs: readonly CsrView[],
  tokens: readonly TokenView[],
  othersApprove: boolean,
): BulkCluster {
  const byUser = grouped(csrs, (csr) => csr.username);
  const byName = grouped(csrs, (csr) => csr.request?.commonName ?? null);
  const byOwner = grouped(tokens, (token) => token.deviceId);
  return {
    nodes: new Map(nodes.map((node) => [node.name, node])),
    othersApprove,
    csrsOf(user, commonName) {
      const own = user === null ? [] : (byUser.get(user) ?? []);
      return [...own, ...(byName.get(commonName) ?? []).filter((csr) => csr.username !== user)];
    },
    tokensOf: (deviceId) => byOwner.get(deviceId) ?? [],
  };
}
