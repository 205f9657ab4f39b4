import { at, type KubernetesObject, objectOf, textAt } from "./json.ts";
import { type ObjectStore, secondsNow } from "./object-store.ts";
import type { Resource } from "./resources.ts";
import { ApiError, badRequest, wrongUid } from "./status.ts";

const FINISHED = ["Pending", "Succeeded", "Failed"];

/**
 * POST pods/<name>/eviction: takes one of the PodDisruptionBudget's disruptions and deletes the pod.
 * @throws ApiError 429 where the budget is spent, 500 where two budgets match, 409 where the UID is another
 */
export function evictPod(
  store: ObjectStore,
  resources: { readonly pods: Resource; readonly budgets: Resource },
  pod: KubernetesObject,
  body: unknown,
  staysTerminating: boolean,
): void {
  const { name, namespace = "", uid } = pod.metadata;
  if (textAt(body, "metadata", "name") !== name) throw badRequest("name in URL does not match name in Eviction object");
  const wanted = textAt(body, "deleteOptions", "preconditions", "uid");
  if (wanted !== "" && wanted !== uid) throw wrongUid(resources.pods, name, wanted, uid);
  const terminating = textAt(pod, "metadata", "deletionTimestamp") !== "";
  if (!terminating && !FINISHED.includes(textAt(pod, "status", "phase"))) takeDisruption(store, resources.budgets, pod);
  if (!staysTerminating) {
    store.remove(resources.pods, namespace, name, { uid });
  } else if (!terminating) {
    const metadata = { ...pod.metadata, deletionTimestamp: secondsNow(), deletionGracePeriodSeconds: 30 };
    store.update(resources.pods, namespace, { ...pod, metadata });
  }
}

function takeDisruption(store: ObjectStore, budgets: Resource, pod: KubernetesObject): void {
  const labels = objectOf(pod.metadata.labels);
  const matching = store.list(budgets, pod.metadata.namespace ?? "").filter((budget) => {
    const wanted = Object.entries(objectOf(at(budget, "spec", "selector", "matchLabels")));
    return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
  });
  const [budget, second] = matching;
  if (budget === undefined) return;
  if (second !== undefined) {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new ApiError(500, null, message);
  }
  const { name } = budget.metadata;
  const allowed = at(budget, "status", "disruptionsAllowed");
  if (typeof allowed !== "number") {
    throw budgetError(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (allowed <= 0) {
    const needed = at(budget, "status", "desiredHealthy") ?? 1;
    const healthy = at(budget, "status", "currentHealthy") ?? 1;
    throw budgetError(`The disruption budget ${name} needs ${needed} healthy pods and has ${healthy} currently`);
  }
  const status = { ...objectOf(budget.status), disruptionsAllowed: allowed - 1 };
  store.update(budgets, budget.metadata.namespace ?? "", { ...budget, status });
}

function budgetError(message: string, retryAfterSeconds?: number): ApiError {
  const details = {
    causes: [{ reason: "DisruptionBudget", message }],
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
  const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  const words = "Cannot evict pod as it would violate the pod's disruption budget.";
  return new ApiError(429, "TooManyRequests", words, details, headers);
}
