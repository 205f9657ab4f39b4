import { labWorldOfRights } from "./kubernetes-rights.ts";
import { workloadClusterContract } from "./workload-cluster.ts";

const { world, expectAllUsed } = labWorldOfRights("cluster");

workloadClusterContract("the lab's API", world);

// What fleetd may do in the workload cluster is what it does.
expectAllUsed(() => true);
