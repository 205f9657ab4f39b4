import { labWorldOfRights } from "./kubernetes-rights.ts";
import { recordsContract } from "./records.ts";

const { world, expectAllUsed } = labWorldOfRights("tinkerbell");

recordsContract("the lab's API", world);

// What fleetd may do with ConfigMaps is what it does.
expectAllUsed((resource) => resource === "configmaps");
