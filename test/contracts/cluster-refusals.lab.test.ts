import { clusterRefusalsContract } from "./cluster-refusals.ts";
import { labWorld } from "./kubernetes-world.ts";

clusterRefusalsContract("the lab's API", () => labWorld("cluster"));
