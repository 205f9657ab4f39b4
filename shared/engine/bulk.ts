import { TOKEN_GROUP } from "../fleet/cluster.ts";
import { type Bulk, byDevice, clusterOf, NOTHING } from "./bulk-views.ts";
import { seen } from "./seen.ts";
import type { World } from "./world.ts";

/**
 * Reads both Kubernetes APIs for the pass's devices; one that is down is null in the answer, and said.
 * @param ids the devices, or undefined: all
 * @param nodeNames the Nodes that are theirs
 */
export async function readBulk(
  world: World,
  ids: readonly number[] | undefined,
  nodeNames: readonly string[],
): Promise<Bulk> {
  if (ids !== undefined && ids.length === 0)
    return { bootPlane: NOTHING, ofDevice: () => NOTHING, cluster: clusterOf([], [], [], false) };
  const bootPlane = await seen(world, "", () => world.bootPlane.objects(ids));
  const nodes = await seen(world, "", () => world.cluster.nodes(nodeNames));
  const csrs = nodes === null ? null : await seen(world, "", () => world.cluster.csrs());
  const tokens = csrs === null ? null : await seen(world, "", () => world.cluster.bootstrapTokens(ids));
  const others = tokens === null ? null : await seen(world, "", () => world.cluster.othersApprove(TOKEN_GROUP));
  return {
    bootPlane,
    ofDevice: bootPlane === null ? () => null : byDevice(bootPlane),
    cluster:
      nodes === null || csrs === null || tokens === null ? null : clusterOf(nodes, csrs, tokens, others ?? false),
  };
}
