import { hardware } from "../../../shared/fleet/manifests/hardware.ts";
import { metadata } from "../../../shared/fleet/manifests/meta.ts";
import { workflow } from "../../../shared/fleet/manifests/workflow.ts";
import { ACTIONS, SETTINGS } from "../../scenarios/fixtures.ts";
import type { Sample } from "./fleet.ts";

interface Made {
  readonly api: "tinkerbell" | "cluster";
  readonly path: string;
  readonly object: { readonly metadata: { readonly name: string } };
  readonly status?: unknown;
}

const NAMESPACE = "namespaces/tinkerbell";
const DIGEST = "a".repeat(64);
/** A kubelet lists up to 50 images; they make most of a Node's bytes. */
const IMAGES = 40;

/** What both Kubernetes APIs hold of one running worker: record, Hardware, Machine, its finished Workflow, its Node. */
export function objectsOf(sample: Sample): Made[] {
  const { device, record } = sample;
  const tinkerbell = `/apis/tinkerbell.org/v1alpha1/${NAMESPACE}`;
  const { apiVersion, kind, metadata: labels } = hardware(device, false, true, record.uuid);
  const uuid = { "fleetd.dev/uuid": record.uuid ?? "" };
  const run = record.run;
  if (run === null) throw new Error("no run");
  const finished = workflow(device, run, SETTINGS);
  return [
    {
      api: "tinkerbell",
      path: `/api/v1/${NAMESPACE}/configmaps`,
      object: {
        metadata: metadata(device, `fleetd-${device.id}`, uuid),
        ...{ apiVersion: "v1", kind: "ConfigMap", data: { "record.json": JSON.stringify(record) } },
      },
    },
    {
      api: "tinkerbell",
      path: `${tinkerbell}/hardware`,
      object: { metadata: labels, ...{ apiVersion, kind, spec: sample.hardware } },
    },
    {
      api: "tinkerbell",
      path: `/apis/bmc.tinkerbell.org/v1alpha1/${NAMESPACE}/machines`,
      object: {
        metadata: labels,
        ...{ apiVersion: "bmc.tinkerbell.org/v1alpha1", kind: "Machine", spec: sample.machine },
      },
      status: {
        powerState: "on",
        conditions: [{ type: "Contactable", status: "True", lastUpdateTime: "2026-11-29T12:00:00Z" }],
      },
    },
    {
      api: "tinkerbell",
      path: `${tinkerbell}/workflows`,
      object: { ...finished, ...{ spec: { ...finished.spec, disabled: false } } },
      status: { state: "SUCCESS", globalTimeout: 3600, agentID: run.mac, tasks: [task()] },
    },
    {
      api: "cluster",
      path: "/api/v1/nodes",
      object: {
        metadata: { name: sample.node.name },
        ...{ apiVersion: "v1", kind: "Node", spec: {}, status: { images: images(device.id) } },
      },
    },
  ];
}

function task() {
  const actions = (ACTIONS.provision ?? []).map((name) => ({
    id: `${DIGEST}-${name}`,
    name,
    image: `registry.example/tink-reprovision-tools@sha256:${DIGEST}`,
    command: [name],
    state: "SUCCESS",
    executionStart: "2026-11-29T12:00:00Z",
    executionStop: "2026-11-29T12:00:00Z",
    message: "finished successfully",
  }));
  return { id: DIGEST, name: "os", agentID: "bench", actions };
}

function images(deviceId: number) {
  return Array.from({ length: IMAGES }, (_, n) => ({
    names: [`registry.example/team/image-${n}@sha256:${DIGEST}`, `registry.example/team/image-${n}:v1.${deviceId}`],
    sizeBytes: 50_000_000 + n,
  }));
}
