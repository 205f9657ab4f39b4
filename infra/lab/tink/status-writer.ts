import { ClientError, type LabClient } from "../kubernetes/client.ts";
import { type JsonObject, type KubernetesObject, listAt, objectOf, textAt } from "../kubernetes/json.ts";
import { secondsNow } from "../kubernetes/object-store.ts";

/**
 * Reads an object, changes its status and writes it, again where somebody wrote in between; null from `change` writes
 * nothing. Returns false where the object is gone.
 */
export async function changeStatus(
  client: LabClient,
  path: string,
  change: (status: JsonObject, object: KubernetesObject) => JsonObject | null,
): Promise<boolean> {
  for (;;) {
    const object = await client.get(path);
    if (object === null) return false;
    const status = change(structuredClone(objectOf(object.status)), object);
    if (status === null) return true;
    try {
      await client.call("PUT", `${path}/status`, { ...object, status });
      return true;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      if (error.status === 404) return false;
      if (error.status !== 409) throw error;
    }
  }
}

/** The conditions with one set, by its type; `timeKey` is where its time stands. */
export function withCondition(status: JsonObject, condition: JsonObject, timeKey?: string): JsonObject[] {
  const conditions = listAt(status, "conditions").map(objectOf);
  const others = conditions.filter((entry) => textAt(entry, "type") !== textAt(condition, "type"));
  return [...others, { ...condition, ...(timeKey !== undefined && { [timeKey]: secondsNow() }) }];
}

/** The status of a condition type: "True", "False" or "". */
export function conditionOf(object: unknown, type: string): string {
  return textAt(
    listAt(object, "status", "conditions").find((entry) => textAt(entry, "type") === type),
    "status",
  );
}
