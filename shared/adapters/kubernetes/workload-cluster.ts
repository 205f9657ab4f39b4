import type { WorkloadClusterPort } from "../../ports/workload-cluster.ts";
import { type ClientOptions, createClient } from "./client.ts";
import { clusterCredentials } from "./cluster-credentials.ts";
import { clusterNodes } from "./cluster-nodes.ts";

/** Makes the port of the cluster that the installed nodes join. */
export function createWorkloadCluster(options: ClientOptions): WorkloadClusterPort {
  const client = createClient("workload-cluster", options);
  return { ...clusterNodes(client), ...clusterCredentials(client) };
}
