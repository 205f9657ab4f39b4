import type { Device } from "../device.ts";

export const LABEL_MANAGED_BY = "app.kubernetes.io/managed-by";
export const LABEL_DEVICE_ID = "fleetd.dev/device-id";
export const LABEL_RUN_KIND = "fleetd.dev/run-kind";
export const LABEL_REQUEST_ID = "fleetd.dev/request-id";
export const ANNOTATION_NAME = "fleetd.dev/device-name";

/** Labels and name annotation of all that fleetd makes (spec/00, "What fleetd remembers"). */
export function metadata(
  device: Pick<Device, "id" | "name">,
  name: string,
  labels: Readonly<Record<string, string>> = {},
) {
  return {
    name,
    labels: { [LABEL_MANAGED_BY]: "fleetd", [LABEL_DEVICE_ID]: String(device.id), ...labels },
    annotations: { [ANNOTATION_NAME]: device.name },
  };
}
