import { PortError } from "../../ports/error.ts";
import { at, type JsonObject, textAt, timeAt } from "./json.ts";

export const MANAGED_BY = "app.kubernetes.io/managed-by";
export const DEVICE_ID = "fleetd.dev/device-id";
export const UUID = "fleetd.dev/uuid";
export const NODE = "fleetd.dev/node";
export const OPEN = "fleetd.dev/open";
export const OWNER = "fleetd";

/** The selector of fleetd's objects, of some devices' where ids are given. */
export function selector(deviceIds?: readonly number[]): string {
  return `${MANAGED_BY}=${OWNER}${deviceIds === undefined ? "" : `,${DEVICE_ID} in (${deviceIds.join(",")})`}`;
}

/** Ids in one selector: with 15 digits each they stay well below the request line of any proxy on the way. */
const IDS_PER_SELECTOR = 200;

/** One selector for all, or as many as the ids need; none where there are no ids. */
export function selectors(deviceIds?: readonly number[]): string[] {
  if (deviceIds === undefined) return [selector()];
  const found: string[] = [];
  for (let at = 0; at < deviceIds.length; at += IDS_PER_SELECTOR)
    found.push(selector(deviceIds.slice(at, at + IDS_PER_SELECTOR)));
  return found;
}

/** The NetBox id in an object's labels; null where the object is not fleetd's. */
export function ownerDevice(object: JsonObject): number | null {
  const labels = at(object, "metadata", "labels");
  const id = textAt(labels, DEVICE_ID);
  return textAt(labels, MANAGED_BY) === OWNER && /^[1-9][0-9]{0,14}$/.test(id) ? Number(id) : null;
}

/** @throws PortError `rejected` where the object is not fleetd's: it is neither changed nor deleted. */
export function requireOwned(port: string, object: JsonObject, deviceId?: number): void {
  const owner = ownerDevice(object);
  if (owner !== null && (deviceId === undefined || owner === deviceId)) return;
  const whose = owner === null ? "without fleetd's labels" : `of device ${owner}`;
  throw new PortError("rejected", port, `${textAt(object, "kind")} ${textAt(object, "metadata", "name")} is ${whose}`);
}

/** Name, UID, resourceVersion and time of making. */
export function identity(object: JsonObject): {
  name: string;
  uid: string;
  resourceVersion: string;
  createdAtMs: number;
} {
  const metadata = at(object, "metadata");
  return {
    name: textAt(metadata, "name"),
    uid: textAt(metadata, "uid"),
    resourceVersion: textAt(metadata, "resourceVersion"),
    createdAtMs: timeAt(metadata, "creationTimestamp") ?? 0,
  };
}
