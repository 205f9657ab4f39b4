import type * as Fleet from "../../fleet/cluster.ts";
import { isPortError } from "../../ports/error.ts";
import type { ClusterNodesPort } from "../../ports/workload-cluster.ts";
import type { KubernetesClient } from "./client.ts";
import { StatusError } from "./errors.ts";
import { at, type JsonObject, listAt, textAt, textMapAt } from "./json.ts";
import { identity } from "./owned.ts";
import { read } from "./remove.ts";

// The adapter may import the fleet's types only: the literal types hold both to the same values.
const QUARANTINE_TAINT: typeof Fleet.QUARANTINE_TAINT = "fleetd.dev/quarantine";
const CORDON_ANNOTATION: typeof Fleet.CORDON_ANNOTATION = "fleetd.dev/cordon";
const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";
// Above this a list of all Nodes costs less than a read of each.
const SINGLE_READS = 20;

/**
 * Nodes, pods and evictions of the workload cluster.
 * @see facts/kubernetes-tinkerbell.md 3: cordon, eviction, Node deletion
 */
export function clusterNodes(client: KubernetesClient): ClusterNodesPort {
  const nodePath = (name: string) => `/api/v1/nodes/${encodeURIComponent(name)}`;
  return {
    async nodes(names) {
      if (names.length === 0) return [];
      const wanted = new Set(names);
      const view = (object: JsonObject) => (wanted.has(identity(object).name) ? nodeView(object) : null);
      if (names.length > SINGLE_READS) return client.views("/api/v1/nodes", {}, view);
      const objects = await Promise.all(names.map((name) => read(client, nodePath(name))));
      return objects.flatMap((object) => (object === null ? [] : [nodeView(object)]));
    },
    async patchNode(name, uid, patch) {
      const node = await client.call("GET", nodePath(name));
      // A merge patch replaces the list of taints as a whole: the resourceVersion keeps those of others.
      await client.call("PATCH", nodePath(name), { body: nodePatch(node, uid, patch) });
    },
    async pods(node) {
      const pods = await client.views("/api/v1/pods", { fieldSelector: `spec.nodeName=${node}` }, podView);
      return pods.filter((pod) => pod.node === node);
    },
    evict: (pod) => evict(client, pod),
    async deleteNode(name, uid) {
      await remove(client, nodePath(name), { preconditions: { uid } });
      await remove(
        client,
        `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${encodeURIComponent(name)}`,
      );
    },
  };
}

/** Deletes once; an object that is gone already is success. */
export async function remove(client: KubernetesClient, path: string, options: JsonObject = {}): Promise<void> {
  try {
    await client.call("DELETE", path, { body: { apiVersion: "v1", kind: "DeleteOptions", ...options } });
  } catch (error) {
    if (!isPortError(error, "not-found")) throw error;
  }
}

function nodeView(object: JsonObject): Fleet.NodeView {
  const { name, uid, createdAtMs } = identity(object);
  return {
    name,
    uid,
    createdAtMs,
    unschedulable: at(object, "spec", "unschedulable") === true,
    taints: listAt(object, "spec", "taints").map((taint) => ({
      key: textAt(taint, "key"),
      value: textAt(taint, "value"),
      effect: textAt(taint, "effect"),
    })),
    annotations: textMapAt(object, "metadata", "annotations"),
  };
}

function nodePatch(node: JsonObject, uid: string, patch: Fleet.NodePatch): JsonObject {
  const others = listAt(node, "spec", "taints").filter((taint) => textAt(taint, "key") !== QUARANTINE_TAINT);
  const own = patch.quarantineTaint ? [{ key: QUARANTINE_TAINT, value: "true", effect: "NoSchedule" }] : [];
  return {
    metadata: {
      uid,
      resourceVersion: identity(node).resourceVersion,
      annotations: { [CORDON_ANNOTATION]: patch.cordonReason },
    },
    spec: { unschedulable: patch.unschedulable, taints: [...others, ...own] },
  };
}

function podView(object: JsonObject): Fleet.PodView {
  const { name, uid } = identity(object);
  const owners = listAt(object, "metadata", "ownerReferences");
  return {
    namespace: textAt(object, "metadata", "namespace"),
    name,
    uid,
    node: textAt(object, "spec", "nodeName"),
    phase: textAt(object, "status", "phase"),
    terminating: textAt(object, "metadata", "deletionTimestamp") !== "",
    mirror: Object.hasOwn(textMapAt(object, "metadata", "annotations"), MIRROR_ANNOTATION),
    daemonSet: owners.some((owner) => textAt(owner, "kind") === "DaemonSet" && at(owner, "controller") === true),
  };
}

async function evict(client: KubernetesClient, pod: Fleet.PodView): ReturnType<ClusterNodesPort["evict"]> {
  const { namespace, name, uid } = pod;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/eviction`;
  const deleteOptions = { preconditions: { uid } };
  try {
    await client.call("POST", path, {
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name }, deleteOptions },
    });
    return { answer: "accepted", detail: "" };
  } catch (error) {
    // A conflict is another pod of the same name, which lives elsewhere.
    if (isPortError(error, "not-found", "conflict")) return { answer: "gone", detail: "" };
    if (error instanceof StatusError && isBlocked(error)) return { answer: "blocked", detail: words(error.body) };
    throw error;
  }
}

/** Two PodDisruptionBudgets over one pod are answered with a 500 that has no reason field. */
function isBlocked({ status, body }: StatusError): boolean {
  return status === 429 || (status === 500 && textAt(body, "message").includes("more than one PodDisruptionBudget"));
}

function words(body: unknown): string {
  const causes = listAt(body, "details", "causes").map((cause) => textAt(cause, "message"));
  return causes.find((text) => text !== "") ?? textAt(body, "message");
}
