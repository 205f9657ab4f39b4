import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientOf, LabClient } from "../../../infra/lab/kubernetes/client.ts";
import type { KubernetesWorld } from "../../contracts/kubernetes-world.ts";
import { applyDefinitions, applyManifests, applyNamespace } from "./apply.ts";
import { startFaultProxy } from "./fault-proxy.ts";
import { CLUSTER_CONTROLLERS, type RealKubernetes, startKubernetes, TINKERBELL_CONTROLLERS } from "./start.ts";

const NAMESPACE = "tinkerbell";
const RBAC = "rbac.authorization.k8s.io";
const BINDINGS = `/apis/${RBAC}/v1/clusterrolebindings`;
const APPROVES = "approves-by-itself";
const CONTROLLERS = { tinkerbell: TINKERBELL_CONTROLLERS, cluster: CLUSTER_CONTROLLERS };
const MANIFESTS = { tinkerbell: "tinkerbell-rbac", cluster: "workload-rbac" };

/** A real API of one kind, where user fleetd has exactly the rights of infra/kubernetes. */
export interface RealCluster {
  readonly api: RealKubernetes;
  readonly admin: LabClient;
  world(): Promise<KubernetesWorld>;
  stop(): Promise<void>;
}

/** Starts one; each `world()` of it has fleetd's kubeconfig and a way to spoil what comes between. */
export async function startCluster(kinds: "tinkerbell" | "cluster"): Promise<RealCluster> {
  const folder = mkdtempSync(join(tmpdir(), `fleetd-peer-${kinds}-`));
  const api = await startKubernetes(join(folder, kinds), { controllers: CONTROLLERS[kinds] });
  const { client: admin } = clientOf(api.adminKubeconfig);
  if (kinds === "tinkerbell") await applyNamespace(admin, NAMESPACE);
  await applyManifests(admin, `infra/kubernetes/${MANIFESTS[kinds]}.yaml`);
  if (kinds === "tinkerbell") await applyDefinitions(admin);
  let worlds = 0;
  return {
    api,
    admin,
    world: async () => open(api, admin, join(folder, `fleetd-${++worlds}`)),
    async stop() {
      admin.close();
      await api.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function open(api: RealKubernetes, admin: LabClient, file: string): Promise<KubernetesWorld> {
  const account = `${file}.account`;
  api.writeKubeconfig(account, "fleetd", [], NAMESPACE);
  const proxy = await startFaultProxy(account, file, NAMESPACE);
  const { url, caPem, adminKubeconfig: adminKubeconfigFile } = api;
  const strangerKubeconfigFile = `${file}.stranger`;
  api.writeKubeconfig(strangerKubeconfigFile, "stranger", [], NAMESPACE);
  const clients: LabClient[] = [];
  const as = (token: string) => {
    const client = new LabClient({ url, caPem, token });
    clients.push(client);
    return client;
  };
  const faults = async (change: Record<string, unknown>) => {
    if (change.expiredContinues !== undefined) await api.compact();
    if (change.othersApprove === true) await letOthersApprove(admin);
    proxy.set(change);
  };
  const close = async () => {
    // The cluster serves other suites, which count on nobody's approving.
    await admin.call("DELETE", `${BINDINGS}/${APPROVES}`).catch(() => undefined);
    for (const client of clients) client.close();
    await proxy.close();
  };
  return {
    kubeconfigFile: file,
    adminKubeconfigFile,
    strangerKubeconfigFile,
    url,
    caPem,
    namespace: NAMESPACE,
    admin,
    as,
    faults,
    close,
  };
}

/** What cluster tools do: the controller manager then approves by itself what this group asks for. */
async function letOthersApprove(admin: LabClient): Promise<void> {
  await admin.call("POST", BINDINGS, {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: APPROVES },
    roleRef: {
      apiGroup: RBAC,
      kind: "ClusterRole",
      name: "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    },
    subjects: [{ apiGroup: RBAC, kind: "Group", name: "system:bootstrappers:fleetd" }],
  });
}
