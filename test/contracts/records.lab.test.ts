import { labWorld } from "./kubernetes-world.ts";
import { recordsContract } from "./records.ts";

recordsContract("the lab's API", () => labWorld("tinkerbell"));
