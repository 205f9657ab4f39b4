import { X509Certificate } from "node:crypto";
import { createClient, type KubernetesClient } from "../../../shared/adapters/kubernetes/client.ts";
import { clusterCredentials } from "../../../shared/adapters/kubernetes/cluster-credentials.ts";
import { at } from "../../../shared/adapters/kubernetes/json.ts";
import { TOKEN_GROUP } from "../../../shared/fleet/cluster.ts";
import type { Settings } from "../../../shared/runtime/config.ts";
import { type Check, failed, looked, ok, warning } from "./check.ts";
import { readKubeconfig } from "./kubeconfig.ts";
import { probe } from "./probe.ts";
import { type KubernetesRight, manifestRights, rightText } from "./rights.ts";
import { serverChecks, validityCheck } from "./times.ts";

/** The settings that this looks by. */
export type KubernetesSettings = Pick<
  Settings,
  "FLEET_TINKERBELL_KUBECONFIG" | "FLEET_TINKERBELL_NAMESPACE" | "FLEET_CLUSTER_KUBECONFIG" | "FLEET_CALL_TIMEOUT_MS"
>;

type Manifest = "tinkerbell-rbac" | "workload-rbac";
const INSECURE =
  "name what issued it by certificate-authority: as it is anybody in between may read fleetd's credential";
const REVIEWS = "/apis/authorization.k8s.io/v1";

/** Both Kubernetes APIs: reached, certificate and clock, every right of the manifests, and who else approves. */
export async function checkKubernetes(settings: KubernetesSettings): Promise<Check[]> {
  const [tinkerbell, cluster] = await Promise.all([
    checkApi("tinkerbell", settings.FLEET_TINKERBELL_KUBECONFIG, "tinkerbell-rbac", settings),
    checkApi("cluster", settings.FLEET_CLUSTER_KUBECONFIG, "workload-rbac", settings),
  ]);
  return [...tinkerbell, ...cluster];
}

async function checkApi(
  name: string,
  kubeconfigFile: string,
  manifest: Manifest,
  settings: KubernetesSettings,
): Promise<Check[]> {
  const timeoutMs = settings.FLEET_CALL_TIMEOUT_MS;
  const reached = await looked(name, `look at ${kubeconfigFile} and whether the API is up`, async () => {
    const { server, ca, insecure, clientCertificate } = readKubeconfig(kubeconfigFile);
    const { tls, ...rest } = await probe(`${server}/version`, ca, timeoutMs);
    return [
      ...serverChecks(name, { ...rest, tls: insecure ? null : tls }),
      ...(insecure ? [warning(`${name} certificate`, "is not checked: insecure-skip-tls-verify", INSECURE)] : []),
      ...(clientCertificate === null
        ? []
        : [validityCheck(`${name} client certificate`, new X509Certificate(clientCertificate))]),
    ];
  });
  // Over a connection that is not trusted, or with a credential that is over, every further answer is of the same cause.
  if (reached.some((one) => one.result === "failed" && one.name !== `${name} clock`)) return reached;
  const client = createClient(name, { kubeconfigFile, timeoutMs });
  const todo = `kubectl apply -f infra/kubernetes/${manifest}.yaml, with the user of this kubeconfig as its subject`;
  const rights = await looked(`${name} rights`, `look at the credential of ${kubeconfigFile}`, () =>
    checkRights(name, client, manifestRights(manifest, settings.FLEET_TINKERBELL_NAMESPACE), todo),
  );
  const others = name === "cluster" && !rights.some((one) => one.result === "failed");
  return [
    ...reached,
    ...rights,
    ...(others ? await looked("cluster approvals", todo, () => checkApprovals(client)) : []),
  ];
}

async function checkRights(
  name: string,
  client: KubernetesClient,
  rights: readonly KubernetesRight[],
  todo: string,
): Promise<Check[]> {
  const allowed = await Promise.all(rights.map((right) => mayI(client, right)));
  const missing = rights.filter((_right, i) => !allowed[i]);
  const everything = await mayI(client, { verb: "*", group: "*", resource: "*" });
  return [
    ...missing.map((right) => failed(`${name} rights`, `may not ${rightText(right)}`, todo)),
    ...(missing.length > 0 ? [] : [ok(`${name} rights`, `all ${rights.length} of the manifest`)]),
    ...(everything ? [warning(`${name} rights`, "the account may do everything", todo)] : []),
  ];
}

async function mayI(client: KubernetesClient, right: KubernetesRight): Promise<boolean> {
  const review = await client.call("POST", `${REVIEWS}/selfsubjectaccessreviews`, {
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: right },
    },
  });
  return at(review, "status", "allowed") === true;
}

/** @see facts/kubernetes-tinkerbell.md 3: who else approves by itself */
async function checkApprovals(client: KubernetesClient): Promise<Check[]> {
  const others = await clusterCredentials(client).othersApprove(TOKEN_GROUP);
  const asks = await client.call("POST", `${REVIEWS}/subjectaccessreviews`, {
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: {
        user: "system:bootstrap:fleetd",
        groups: ["system:bootstrappers", TOKEN_GROUP, "system:authenticated"],
        resourceAttributes: { group: "certificates.k8s.io", resource: "certificatesigningrequests", verb: "create" },
      },
    },
  });
  return [
    others
      ? failed(
          "cluster approvals",
          "the controller manager approves what a node with fleetd's token asks for, whatever node it names",
          `take away the binding of ClusterRole system:certificates.k8s.io:certificatesigningrequests:nodeclient to system:bootstrappers or ${TOKEN_GROUP}`,
        )
      : ok("cluster approvals", "nobody but fleetd approves first kubelet certificates of its tokens"),
    at(asks, "status", "allowed") === true
      ? ok("cluster bootstrap", "a node with fleetd's token may ask for its certificate")
      : failed(
          "cluster bootstrap",
          `group ${TOKEN_GROUP} may not ask for certificates, so that no node can join`,
          "kubectl apply -f infra/kubernetes/workload-rbac.yaml (ClusterRoleBinding fleetd-node-bootstrapper)",
        ),
  ];
}
