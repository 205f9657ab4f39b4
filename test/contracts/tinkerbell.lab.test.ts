import { rufioContract } from "./rufio.ts";
import { labTinkWorld } from "./tink-world.ts";
import { tinkerbellContract } from "./tinkerbell.ts";

tinkerbellContract("the lab's Tinkerbell", labTinkWorld);
rufioContract("the lab's Rufio", labTinkWorld);
