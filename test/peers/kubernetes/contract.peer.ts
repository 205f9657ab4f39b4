import { afterAll } from "vitest";
import { bootPlaneContract } from "../../contracts/boot-plane.ts";
import { clusterRefusalsContract } from "../../contracts/cluster-refusals.ts";
import { recordsContract } from "../../contracts/records.ts";
import { workloadClusterContract } from "../../contracts/workload-cluster.ts";
import { type RealCluster, startCluster } from "./world.ts";

const started = new Map<"tinkerbell" | "cluster", Promise<RealCluster>>();

/** One cluster of a kind serves all suites: their objects have names of their own. */
async function world(kinds: "tinkerbell" | "cluster") {
  const cluster = started.get(kinds) ?? startCluster(kinds);
  started.set(kinds, cluster);
  return (await cluster).world();
}

afterAll(async () => {
  for (const cluster of started.values()) await (await cluster).stop();
});

bootPlaneContract("a real API", () => world("tinkerbell"));
recordsContract("a real API", () => world("tinkerbell"));
workloadClusterContract("a real API", () => world("cluster"));
clusterRefusalsContract("a real API", () => world("cluster"));
