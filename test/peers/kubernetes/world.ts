import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { ClientError, clientOf, LabClient } from "../../../infra/lab/kubernetes/client.ts";
import { textAt } from "../../../infra/lab/kubernetes/json.ts";
import type { KubernetesWorld } from "../../contracts/kubernetes-world.ts";

const CRDS = "infra/lab/kubernetes/crds";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A real Kubernetes API as its administrator, with a namespace, Tinkerbell's CRDs, and room for bootstrap tokens. */
export async function realWorld(kubeconfigFile: string): Promise<KubernetesWorld> {
  const { client: admin, url, caPem } = clientOf(kubeconfigFile);
  const namespace = "tinkerbell";
  await make(admin, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const files = readdirSync(CRDS).filter((name) => name.endsWith(".yaml"));
  const definitions = files.map((name): unknown => parse(readFileSync(`${CRDS}/${name}`, "utf8")));
  for (const definition of definitions) await make(admin, DEFINITIONS, definition);
  for (const definition of definitions) await served(admin, definition);
  const group = "rbac.authorization.k8s.io";
  await make(admin, `/apis/${group}/v1/clusterrolebindings`, {
    apiVersion: `${group}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "fleetd-bootstrap" },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "system:node-bootstrapper" },
    subjects: [{ apiGroup: group, kind: "Group", name: "system:bootstrappers:fleetd" }],
  });
  const clients = [admin];
  const as = (token: string) => {
    const client = new LabClient({ url, caPem, token });
    clients.push(client);
    return client;
  };
  const close = async () => {
    for (const client of clients) client.close();
  };
  return { kubeconfigFile, url, caPem, namespace, admin, as, faults: null, close };
}

async function make(admin: LabClient, path: string, body: unknown): Promise<void> {
  try {
    await admin.call("POST", path, body);
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
