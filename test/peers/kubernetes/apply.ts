import { readdirSync, readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";
import { ClientError, type LabClient } from "../../../infra/lab/kubernetes/client.ts";
import { textAt } from "../../../infra/lab/kubernetes/json.ts";

const CRDS = "infra/lab/kubernetes/crds";
const PLURALS: Readonly<Record<string, string>> = {
  Namespace: "namespaces",
  Role: "roles",
  RoleBinding: "rolebindings",
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  CustomResourceDefinition: "customresourcedefinitions",
};

/** What `kubectl apply -f` does with manifests of the kinds above, on a cluster that is new. */
export async function applyManifests(admin: LabClient, file: string): Promise<void> {
  for (const document of parseAllDocuments(readFileSync(file, "utf8"))) await make(admin, document.toJS());
}

/** A namespace, which no manifest of ours makes. */
export async function applyNamespace(admin: LabClient, name: string): Promise<void> {
  await make(admin, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

/** Tinkerbell's CRDs, and waits until each is served. */
export async function applyDefinitions(admin: LabClient): Promise<void> {
  const files = readdirSync(CRDS).filter((name) => name.endsWith(".yaml"));
  const definitions = files.map((name): unknown => parse(readFileSync(`${CRDS}/${name}`, "utf8")));
  for (const definition of definitions) await make(admin, definition);
  for (const definition of definitions) await served(admin, definition);
}

async function make(admin: LabClient, object: unknown): Promise<void> {
  const [apiVersion, kind] = [textAt(object, "apiVersion"), textAt(object, "kind")];
  const plural = PLURALS[kind];
  if (plural === undefined) throw new Error(`a ${kind} is not known here`);
  const namespace = textAt(object, "metadata", "namespace");
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const path = namespace === "" ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
  try {
    await admin.call("POST", path, object);
  } catch (error) {
    if (!(error instanceof ClientError) || error.status !== 409) throw error;
  }
}

/** A definition is established some seconds before its objects can be listed. */
async function served(admin: LabClient, definition: unknown): Promise<void> {
  const path = `/apis/${textAt(definition, "spec", "group")}/v1alpha1/${textAt(definition, "spec", "names", "plural")}`;
  for (;;) {
    const answer = await admin.list(path).catch((error: unknown) => error);
    if (!(answer instanceof ClientError)) return;
    if (answer.status !== 404 && answer.status !== 429) throw answer;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
