import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LabClient } from "../../infra/lab/kubernetes/client.ts";
import { writeKubeconfig } from "../../infra/lab/kubernetes/kubeconfig.ts";
import { startLabKubernetes } from "../../infra/lab/kubernetes/server.ts";

/** A Kubernetes API for a contract suite: fleetd's kubeconfig, and another account to act beside fleetd. */
export interface KubernetesWorld {
  readonly kubeconfigFile: string;
  /** The administrator's. */
  readonly adminKubeconfigFile: string;
  /** A kubeconfig of an account that nobody gave any right. */
  readonly strangerKubeconfigFile: string;
  readonly url: string;
  readonly caPem: string;
  readonly namespace: string;
  /** An administrator: calls the API as the other actors do. */
  readonly admin: LabClient;
  /** The same server for another account; without a token nobody. */
  as(token: string): LabClient;
  /** Set where the API can be made to misbehave. */
  readonly faults: ((change: Record<string, unknown>) => Promise<void>) | null;
  close(): Promise<void>;
}

/** Starts the lab's API and writes fleetd's kubeconfig. */
export async function labWorld(kinds: "tinkerbell" | "cluster"): Promise<KubernetesWorld> {
  const directory = mkdtempSync(join(tmpdir(), "fleetd-kubernetes-"));
  const server = await startLabKubernetes({
    kinds,
    tokens: [
      { token: "fleetd-token", user: "fleetd", groups: [] },
      { token: "admin-token", user: "admin", groups: ["system:masters"] },
      { token: "stranger-token", user: "stranger", groups: [] },
    ],
  });
  const kubeconfigFile = join(directory, "kubeconfig");
  const namespace = "tinkerbell";
  const adminKubeconfigFile = join(directory, "admin");
  const strangerKubeconfigFile = join(directory, "stranger");
  writeKubeconfig(kubeconfigFile, server.url, "fleetd-token", namespace, server.caPem);
  writeKubeconfig(adminKubeconfigFile, server.url, "admin-token", namespace, server.caPem);
  writeKubeconfig(strangerKubeconfigFile, server.url, "stranger-token", namespace, server.caPem);
  const clients: LabClient[] = [];
  const as = (token: string) => {
    const client = new LabClient({ url: server.url, caPem: server.caPem, token });
    clients.push(client);
    return client;
  };
  const admin = as("admin-token");
  return {
    kubeconfigFile,
    adminKubeconfigFile,
    strangerKubeconfigFile,
    url: server.url,
    caPem: server.caPem,
    namespace,
    admin,
    as,
    faults: async (change) => void (await admin.call("POST", "/lab/faults", change)),
    async close() {
      for (const client of clients) client.close();
      await server.close();
      rmSync(directory, { recursive: true });
    },
  };
}
