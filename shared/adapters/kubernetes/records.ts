import { isPortError, PortError } from "../../ports/error.ts";
import type { RecordsPort, StoredRecord, StoredText } from "../../ports/records.ts";
import { type ClientOptions, createClient, type KubernetesClient } from "./client.ts";
import { at, type JsonObject, textAt } from "./json.ts";
import {
  DEVICE_ID,
  identity,
  MANAGED_BY,
  NODE,
  OPEN,
  OWNER,
  ownerDevice,
  requireOwned,
  selector,
  selectors,
  UUID,
} from "./owned.ts";
import { read, removeObject } from "./remove.ts";

const KEY = "record.json";
const FLEET = "fleetd-fleet";
const NAME = "fleetd.dev/device-name";

export interface RecordsOptions extends ClientOptions {
  readonly namespace: string;
}

/** Makes fleetd's memory: ConfigMaps `fleetd-<NetBox id>` and `fleetd-fleet` in Tinkerbell's namespace. */
export function createRecords(options: RecordsOptions): RecordsPort {
  return recordsOver(createClient("records", options), options.namespace);
}

/** The same over a client of another making: on workerd the package does not run, and fetch carries the calls. */
export function recordsOver(client: KubernetesClient, namespace: string): RecordsPort {
  const collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
  const pathOf = (deviceId: number) => `${collection}/fleetd-${deviceId}`;
  const select = async (labelSelector: string) => client.views(collection, { labelSelector }, recordOf);
  // The value goes into a selector: anything of another shape would select by something else.
  const labelled = async (label: string, value: string, shape: RegExp) => {
    if (!shape.test(value)) return [];
    const found = await client.list(collection, { labelSelector: `${selector()},${label}=${value}` });
    return found.flatMap((object) => {
      const record = recordOf(object);
      return record === null || textAt(object, "metadata", "labels", label) !== value ? [] : [record];
    });
  };
  const one = async (deviceId: number) => {
    const object = await read(client, pathOf(deviceId));
    return object === null ? null : ownRecord(client, object, deviceId);
  };

  return {
    all: () => select(selector()),
    open: () => select(`${selector()},${OPEN}=true`),
    async of(deviceIds) {
      const found: StoredRecord[] = [];
      for (const one of selectors(deviceIds)) found.push(...(await select(one)));
      return found;
    },
    get: one,
    byUuid: (uuid) => labelled(UUID, uuid, /^[0-9a-fA-F-]{36}$/),
    byNode: (name) => labelled(NODE, name, /^[a-z0-9-]{1,63}$/),
    async put({ deviceId, name, uuid, node, open, text }, resourceVersion) {
      const labels = {
        [MANAGED_BY]: OWNER,
        [DEVICE_ID]: String(deviceId),
        ...(uuid !== null && { [UUID]: uuid }),
        ...(node !== null && { [NODE]: node }),
        ...(open && { [OPEN]: "true" }),
      };
      const metadata = { name: `fleetd-${deviceId}`, labels, annotations: { [NAME]: name } };
      const stored = await write(client, collection, metadata, text, resourceVersion, (object) =>
        requireOwned(client.port, object, deviceId),
      );
      return ownRecord(client, stored, deviceId);
    },
    remove: (deviceId, resourceVersion) =>
      removeObject(client, pathOf(deviceId), { resourceVersion }, (object) =>
        requireOwned(client.port, object, deviceId),
      ),
    async fleet() {
      const object = await read(client, `${collection}/${FLEET}`);
      if (object === null) return null;
      requireManaged(client, object);
      return storedText(object);
    },
    async putFleet(text, resourceVersion) {
      const metadata = { name: FLEET, labels: { [MANAGED_BY]: OWNER } };
      const check = (object: JsonObject) => requireManaged(client, object);
      return storedText(await write(client, collection, metadata, text, resourceVersion, check));
    },
  };
}

async function write(
  client: KubernetesClient,
  collection: string,
  metadata: { readonly name: string },
  text: string,
  resourceVersion: string | null,
  check: (taken: JsonObject) => void,
): Promise<JsonObject> {
  const path = `${collection}/${metadata.name}`;
  const configMap = { apiVersion: "v1", kind: "ConfigMap", data: { [KEY]: text } };
  try {
    if (resourceVersion === null) return await client.call("POST", collection, { body: { ...configMap, metadata } });
    return await client.call("PUT", path, { body: { ...configMap, metadata: { ...metadata, resourceVersion } } });
  } catch (error) {
    // A record that was written before and is gone now has moved like any other.
    if (isPortError(error, "not-found") && resourceVersion !== null) {
      throw new PortError("conflict", client.port, `${metadata.name} is gone`);
    }
    if (isPortError(error, "conflict")) {
      const taken = await read(client, path);
      if (taken !== null) check(taken);
    }
    throw error;
  }
}

function requireManaged(client: KubernetesClient, object: JsonObject): void {
  if (textAt(object, "metadata", "labels", MANAGED_BY) === OWNER) return;
  throw new PortError("rejected", client.port, `${identity(object).name} is without fleetd's labels`);
}

function ownRecord(client: KubernetesClient, object: JsonObject, deviceId: number): StoredRecord {
  requireOwned(client.port, object, deviceId);
  return storedRecord(object, deviceId);
}

function recordOf(object: JsonObject): StoredRecord | null {
  const deviceId = ownerDevice(object);
  return deviceId === null || identity(object).name !== `fleetd-${deviceId}` ? null : storedRecord(object, deviceId);
}

function storedRecord(object: JsonObject, deviceId: number): StoredRecord {
  const labels = at(object, "metadata", "labels");
  return { deviceId, open: textAt(labels, OPEN) === "true", node: textAt(labels, NODE) || null, ...storedText(object) };
}

function storedText(object: JsonObject): StoredText {
  return { resourceVersion: identity(object).resourceVersion, text: textAt(at(object, "data"), KEY) };
}
