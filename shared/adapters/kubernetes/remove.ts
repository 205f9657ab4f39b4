import { setTimeout as sleep } from "node:timers/promises";
import { isPortError, PortError } from "../../ports/error.ts";
import type { KubernetesClient } from "./client.ts";
import type { JsonObject } from "./json.ts";
import { identity } from "./owned.ts";

const POLL_MS = 100;

/**
 * Deletes with preconditions and reads until the object is gone; one that is gone already is success.
 * @throws PortError `unavailable` where it is still there after the call's time.
 */
export async function removeObject(
  client: KubernetesClient,
  path: string,
  preconditions: { readonly uid?: string; readonly resourceVersion?: string | undefined },
  check: (object: JsonObject) => void,
): Promise<void> {
  const stored = await read(client, path);
  if (stored === null) return;
  check(stored);
  try {
    await client.call("DELETE", path, {
      body: { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background", preconditions },
    });
  } catch (error) {
    if (isPortError(error, "not-found")) return;
    throw error;
  }
  const { uid } = identity(stored);
  for (let waitedMs = 0; waitedMs <= client.timeoutMs; waitedMs += POLL_MS) {
    const left = await read(client, path);
    if (left === null || identity(left).uid !== uid) return;
    await sleep(POLL_MS);
  }
  throw new PortError("unavailable", client.port, `${path} is deleted but still there`);
}

/** Reads one object; null where there is none. */
export async function read(client: KubernetesClient, path: string): Promise<JsonObject | null> {
  try {
    return await client.call("GET", path);
  } catch (error) {
    if (isPortError(error, "not-found")) return null;
    throw error;
  }
}
