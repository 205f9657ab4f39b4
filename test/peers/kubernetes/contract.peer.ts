import { bootPlaneContract } from "../../contracts/boot-plane.ts";
import { recordsContract } from "../../contracts/records.ts";
import { workloadClusterContract } from "../../contracts/workload-cluster.ts";
import { realWorld } from "./world.ts";

/**
 * A fresh kube-apiserver with its controller manager (csrsigning, tokencleaner, disruption, garbage collector):
 * PEER_KUBERNETES_KUBECONFIG is its administrator's. Objects of the suites' own names are left in it.
 */
const kubeconfigFile = process.env.PEER_KUBERNETES_KUBECONFIG ?? "";
if (kubeconfigFile === "") throw new Error("PEER_KUBERNETES_KUBECONFIG is not set");

bootPlaneContract("a real API", () => realWorld(kubeconfigFile));
recordsContract("a real API", () => realWorld(kubeconfigFile));
workloadClusterContract("a real API", () => realWorld(kubeconfigFile));
