import { bootPlaneContract } from "./boot-plane.ts";
import { labWorld } from "./kubernetes-world.ts";

bootPlaneContract("the lab's API", () => labWorld("tinkerbell"));
