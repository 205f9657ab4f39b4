import type { JobManifest, WorkflowManifest } from "../boot-plane.ts";
import { type Device, objectName } from "../device.ts";
import type { FleetSettings } from "../limits.ts";
import type { Run, RunKind } from "../record.ts";
import { LABEL_REQUEST_ID, LABEL_RUN_KIND, metadata } from "./meta.ts";

/** Name of a run's Workflow: f<id>-<kind>-<first 12 hex of the request id>-<attempt>, at most 55 (spec/30, "Requests"). */
export function workflowName(deviceId: number, kind: RunKind, requestId: string, attempt: number): string {
  return `${objectName(deviceId)}-${kind}-${requestId.replaceAll("-", "").toLowerCase().slice(0, 12)}-${attempt}`;
}

/** The shared Templates for what is no install. */
export function templateOf(run: Run): string {
  if (run.kind !== "provision") return run.kind;
  // What cannot attest gets no code, so nothing is installed on it.
  return run.class?.class.attestation === "unsupported" ? "wipe" : (run.class?.class.template ?? "provision");
}

/** The values that a run's Template is rendered with; every key is always there: one that is missing never renders. */
export function hardwareMap(run: Run, settings: FleetSettings): Record<string, string> {
  const cls = run.class?.class;
  const pin = run.class?.pin;
  const install = run.kind === "provision" && cls !== undefined && cls.payload !== "none";
  return {
    device_1: run.mac,
    disk_device: run.disk === null ? "" : `/dev/${run.disk.device}`,
    disk_serial: run.disk?.serial ?? "",
    installer: pin?.kind === "installer" ? pin.installer : "",
    image: pin?.kind === "image" ? pin.image : "",
    image_digest: pin?.kind === "image" ? pin.digest : "",
    image_format: pin?.kind === "image" ? pin.format : "",
    code_required: String(run.kind === "provision" && cls?.attestation === "supported"),
    install: String(install),
    os: cls?.os ?? "",
    tools_image: settings.toolsImage,
    seed_url: `${settings.deviceUrl}/seed`,
    uuid: run.uuid ?? "",
  };
}

/** The run's Workflow, made disabled: a PATCH with UID and resourceVersion enables it. */
export function workflow(device: Device, run: Run, settings: FleetSettings): WorkflowManifest {
  return {
    apiVersion: "tinkerbell.org/v1alpha1",
    kind: "Workflow",
    metadata: metadata(device, run.name, { [LABEL_RUN_KIND]: run.kind, [LABEL_REQUEST_ID]: run.request.id }),
    spec: {
      templateRef: templateOf(run),
      hardwareRef: objectName(device.id),
      disabled: true,
      ...(run.bootMode ? { bootOptions: { bootMode: "netboot" as const } } : {}),
      hardwareMap: hardwareMap(run, settings),
    },
  };
}

/** A Job that turns the machine off; its completion with own Tasks is the only evidence of "off". */
export function offJob(device: Pick<Device, "id" | "name">, name: string, namespace: string): JobManifest {
  return {
    apiVersion: "bmc.tinkerbell.org/v1alpha1",
    kind: "Job",
    metadata: metadata(device, name),
    spec: { machineRef: { name: objectName(device.id), namespace }, tasks: [{ powerAction: "off" }] },
  };
}
