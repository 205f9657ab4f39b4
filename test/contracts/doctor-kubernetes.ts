import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkKubernetes } from "../../infra/fleetctl/doctor/kubernetes.ts";
import type { KubernetesWorld } from "./kubernetes-world.ts";

/** What `fleetctl doctor` says of two Kubernetes APIs on which the manifests of infra/kubernetes were applied. */
export function doctorKubernetesContract(
  peer: string,
  start: (kinds: "tinkerbell" | "cluster") => Promise<KubernetesWorld>,
): void {
  describe(`fleetctl doctor on ${peer}`, () => {
    let tinkerbell: KubernetesWorld;
    let cluster: KubernetesWorld;
    beforeAll(async () => {
      tinkerbell = await start("tinkerbell");
      cluster = await start("cluster");
    });
    afterAll(async () => {
      await tinkerbell.close();
      await cluster.close();
    });

    const look = async (change: { tinkerbell?: string; cluster?: string } = {}) => {
      const checks = await checkKubernetes({
        FLEET_TINKERBELL_KUBECONFIG: change.tinkerbell ?? tinkerbell.kubeconfigFile,
        FLEET_TINKERBELL_NAMESPACE: tinkerbell.namespace,
        FLEET_CLUSTER_KUBECONFIG: change.cluster ?? cluster.kubeconfigFile,
        FLEET_CALL_TIMEOUT_MS: 10_000,
      });
      return checks.map(({ name, result, text }) => `${result}: ${name}: ${text}`);
    };

    it("is content with exactly the rights of the manifests", async () => {
      const checks = await look();
      expect(checks.filter((one) => !one.startsWith("ok: "))).toEqual([]);
      expect(checks).toEqual(
        expect.arrayContaining([
          "ok: tinkerbell rights: all 26 of the manifest",
          "ok: cluster rights: all 17 of the manifest",
          "ok: cluster approvals: nobody but fleetd approves first kubelet certificates of its tokens",
          "ok: cluster bootstrap: a node with fleetd's token may ask for its certificate",
        ]),
      );
    });

    it("names every right that an account lacks", async () => {
      const checks = await look({
        tinkerbell: tinkerbell.strangerKubeconfigFile,
        cluster: cluster.strangerKubeconfigFile,
      });
      const lacking = checks.filter((one) => one.startsWith("failed: "));
      expect(lacking).toHaveLength(26 + 17);
      expect(lacking).toEqual(
        expect.arrayContaining([
          "failed: tinkerbell rights: may not patch workflows.tinkerbell.org in tinkerbell",
          "failed: tinkerbell rights: may not update configmaps in tinkerbell",
          "failed: cluster rights: may not create pods/eviction",
          "failed: cluster rights: may not approve signers.certificates.k8s.io kubernetes.io/kube-apiserver-client-kubelet",
          "failed: cluster rights: may not delete leases.coordination.k8s.io in kube-node-lease",
        ]),
      );
    });

    it("warns of an account that may do everything", async () => {
      const checks = await look({ tinkerbell: tinkerbell.adminKubeconfigFile, cluster: cluster.adminKubeconfigFile });
      expect(checks.filter((one) => !one.startsWith("ok: "))).toEqual([
        "warning: tinkerbell rights: the account may do everything",
        "warning: cluster rights: the account may do everything",
      ]);
    });

    it("fails where the cluster lets others approve", async () => {
      await cluster.faults?.({ othersApprove: true });
      expect((await look()).filter((one) => !one.startsWith("ok: "))).toEqual([
        expect.stringMatching(/^failed: cluster approvals: the controller manager approves/),
      ]);
    });
  });
}
