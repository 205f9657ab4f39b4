import { labWorld } from "./kubernetes-world.ts";
import { workloadClusterContract } from "./workload-cluster.ts";

workloadClusterContract("the lab's API", () => labWorld("cluster"));
