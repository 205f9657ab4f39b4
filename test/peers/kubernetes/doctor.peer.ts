import { afterAll } from "vitest";
import { doctorKubernetesContract } from "../../contracts/doctor-kubernetes.ts";
import { type RealCluster, startCluster } from "./world.ts";

const started: RealCluster[] = [];
afterAll(async () => {
  for (const cluster of started) await cluster.stop();
});

doctorKubernetesContract("real APIs", async (kinds) => {
  const cluster = await startCluster(kinds);
  started.push(cluster);
  return cluster.world();
});
