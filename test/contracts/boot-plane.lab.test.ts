import { bootPlaneContract } from "./boot-plane.ts";
import { labWorldOfRights } from "./kubernetes-rights.ts";

const { world, expectAllUsed } = labWorldOfRights("tinkerbell");

bootPlaneContract("the lab's API", world);

// What fleetd may do with Tinkerbell's kinds is what it does.
expectAllUsed((resource) => resource.endsWith("tinkerbell.org"));
