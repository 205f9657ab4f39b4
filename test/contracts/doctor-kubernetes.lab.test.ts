import { doctorKubernetesContract } from "./doctor-kubernetes.ts";
import { labWorld } from "./kubernetes-world.ts";

doctorKubernetesContract("the lab's APIs", labWorld);
