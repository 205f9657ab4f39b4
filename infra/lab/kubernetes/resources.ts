import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { at, type JsonObject, listAt, objectOf, textAt } from "./json.ts";

/** One kind of object that the API serves. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Set for custom resources: the openAPIV3Schema. They have a status subresource. */
  readonly schema?: JsonObject;
}

const builtIn = (apiVersion: string, plural: string, kind: string, namespaced = true): Resource => {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  return { group, version, plural, kind, namespaced };
};

const CORE: readonly Resource[] = [
  builtIn("v1", "configmaps", "ConfigMap"),
  builtIn("v1", "secrets", "Secret"),
  builtIn("v1", "namespaces", "Namespace", false),
];

const CLUSTER: readonly Resource[] = [
  builtIn("v1", "nodes", "Node", false),
  builtIn("v1", "pods", "Pod"),
  builtIn("certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest", false),
  builtIn("coordination.k8s.io/v1", "leases", "Lease"),
  builtIn("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget"),
];

const CRD_FILES = [
  "tinkerbell.org_hardware",
  "tinkerbell.org_templates",
  "tinkerbell.org_workflows",
  "bmc.tinkerbell.org_machines",
  "bmc.tinkerbell.org_jobs",
  "bmc.tinkerbell.org_tasks",
];

/** The kinds of one of the two APIs: Tinkerbell's, or the workload cluster's. */
export function resourcesOf(kinds: "tinkerbell" | "cluster"): readonly Resource[] {
  return kinds === "cluster" ? [...CORE, ...CLUSTER] : [...CORE, ...CRD_FILES.map(customResource)];
}

function customResource(file: string): Resource {
  const crd: unknown = parse(readFileSync(new URL(`./crds/${file}.yaml`, import.meta.url), "utf8"));
  const version = listAt(crd, "spec", "versions")[0];
  return {
    group: textAt(crd, "spec", "group"),
    version: textAt(version, "name"),
    plural: textAt(crd, "spec", "names", "plural"),
    kind: textAt(crd, "spec", "names", "kind"),
    namespaced: textAt(crd, "spec", "scope") === "Namespaced",
    schema: objectOf(at(version, "schema", "openAPIV3Schema")),
  };
}
