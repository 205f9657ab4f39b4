import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LabAuthority } from "../../../infra/lab/kubernetes/authority.ts";
import { clientOf } from "../../../infra/lab/kubernetes/client.ts";
import { freePort } from "../../../infra/lab/world/ports.ts";
import { type PeerProcess, startProcess, stopAll, untilReady } from "../_common/process.ts";
import { installKubernetes } from "./install.ts";

/** Controllers of a cluster that nodes join; pods, nodes and services are nobody's here. */
export const CLUSTER_CONTROLLERS: readonly string[] = [
  "certificatesigningrequest-signing-controller",
  "certificatesigningrequest-approving-controller",
  "certificatesigningrequest-cleaner-controller",
  "bootstrap-signer-controller",
  "token-cleaner-controller",
  "disruption-controller",
  "garbage-collector-controller",
  "namespace-controller",
  "clusterrole-aggregation-controller",
];

/** What runs where Tinkerbell brings the API itself. */
export const TINKERBELL_CONTROLLERS: readonly string[] = ["garbage-collector-controller"];

const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

export interface KubernetesOptions {
  readonly controllers: readonly string[];
  readonly apiServerFlags?: readonly string[];
  readonly etcdFlags?: readonly string[];
}

/** An etcd, a kube-apiserver and a controller manager of one cluster. */
export interface RealKubernetes {
  readonly url: string;
  readonly caPem: string;
  /** Of a member of system:masters. */
  readonly adminKubeconfig: string;
  /** The processes, to be stopped and continued by a test. */
  readonly etcd: PeerProcess;
  readonly apiServer: PeerProcess;
  readonly pids: readonly number[];
  /** Forgets all versions of objects but the last, as etcd does each five minutes: older continue tokens are expired. */
  compact(): Promise<void>;
  /** Writes the kubeconfig of a user, who has no rights but those that bindings give to the name. */
  writeKubeconfig(file: string, user: string, groups: readonly string[], namespace: string): void;
  stop(): Promise<void>;
}

/** Starts one in the folder given, empty, on ports of loopback. */
export async function startKubernetes(folder: string, options: KubernetesOptions): Promise<RealKubernetes> {
  const program = await installKubernetes();
  mkdirSync(folder, { recursive: true });
  const at = (name: string) => join(folder, name);
  const authority = new LabAuthority(`${folder.split("/").at(-1)} CA`);
  const server = authority.serverIdentity();
  const accounts = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const files = {
    "ca.pem": authority.pem,
    "ca.key": authority.keyPem(),
    "server.pem": server.certificate,
    "server.key": server.key,
    "accounts.key": accounts.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    "accounts.pub": accounts.publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text, { mode: 0o600 });
  const [etcdPort, peerPort, port, managerPort] = await ports();
  const url = `https://127.0.0.1:${port}`;
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const writeKubeconfig = (file: string, user: string, groups: readonly string[], namespace: string) =>
    writeFileSync(file, kubeconfigOf(authority, url, user, groups, namespace), { mode: 0o600 });
  const adminKubeconfig = at("admin.kubeconfig");
  writeKubeconfig(adminKubeconfig, "admin", ["system:masters"], "default");

  const started: PeerProcess[] = [];
  const start = (name: string, flags: Readonly<Record<string, string>>, more: readonly string[] = []) => {
    const words = Object.entries(flags).map(([key, value]) => `--${key}=${value}`);
    const peer = startProcess(name, program, [name, ...words, ...more], at(`${name}.log`));
    started.push(peer);
    return peer;
  };
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const etcd = start(
    "etcd",
    {
      name: "peer",
      "data-dir": at("etcd"),
      "unsafe-no-fsync": "true",
      "log-level": "warn",
      "listen-client-urls": etcdUrl,
      "advertise-client-urls": etcdUrl,
      "listen-peer-urls": peerUrl,
      "initial-advertise-peer-urls": peerUrl,
      "initial-cluster": `peer=${peerUrl}`,
    },
    options.etcdFlags,
  );
  const apiServer = start(
    "kube-apiserver",
    {
      "etcd-servers": etcdUrl,
      "bind-address": "127.0.0.1",
      "secure-port": `${port}`,
      "advertise-address": "127.0.0.1",
      // A loopback address cannot stand in an EndpointSlice.
      "endpoint-reconciler-type": "none",
      "service-cluster-ip-range": "10.96.0.0/24",
      "client-ca-file": at("ca.pem"),
      "tls-cert-file": at("server.pem"),
      "tls-private-key-file": at("server.key"),
      "authorization-mode": "Node,RBAC",
      "enable-bootstrap-token-auth": "true",
      "enable-admission-plugins": "NodeRestriction",
      // Nobody makes default service accounts here, and pods would wait for theirs.
      "disable-admission-plugins": "ServiceAccount",
      "service-account-issuer": "https://kubernetes.default.svc",
      "service-account-key-file": at("accounts.pub"),
      "service-account-signing-key-file": at("accounts.key"),
    },
    options.apiServerFlags,
  );
  const { client } = clientOf(adminKubeconfig);
  // The last that a new API server makes by itself; without them tokens may do nothing.
  const rolesMade = async () => (await client.get(`${ROLES}/system:node-bootstrapper`)) !== null;
  const stop = async () => {
    client.close();
    await stopAll(started);
  };
  try {
    await untilReady(apiServer, at("kube-apiserver.log"), rolesMade, 120_000);
    start("kube-controller-manager", {
      kubeconfig: adminKubeconfig,
      "bind-address": "127.0.0.1",
      "secure-port": `${managerPort}`,
      "leader-elect": "false",
      controllers: options.controllers.join(","),
      "cluster-signing-cert-file": at("ca.pem"),
      "cluster-signing-key-file": at("ca.key"),
      "cluster-signing-duration": "8760h",
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const pids = started.map((peer) => peer.pid);
  const compact = () => compactEtcd(etcdUrl);
  return { url, caPem: authority.pem, adminKubeconfig, etcd, apiServer, pids, compact, writeKubeconfig, stop };
}

async function compactEtcd(etcdUrl: string): Promise<void> {
  const ask = async (path: string, body: unknown) => {
    const answer = await fetch(`${etcdUrl}/v3/kv/${path}`, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { readonly header?: { readonly revision?: string } };
  };
  const { header } = await ask("range", { key: Buffer.from("/").toString("base64"), limit: 1 });
  await ask("compaction", { revision: header?.revision, physical: true });
}

async function ports(): Promise<[number, number, number, number]> {
  const found = new Set<number>();
  while (found.size < 4) found.add(await freePort());
  const [a = 0, b = 0, c = 0, d = 0] = found;
  return [a, b, c, d];
}

function kubeconfigOf(
  authority: LabAuthority,
  url: string,
  user: string,
  groups: readonly string[],
  namespace: string,
): string {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const certificate = authority.issue({ commonName: user, organizations: groups, use: "client" }, spki);
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const key = base64(privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "peer", cluster: { server: url, "certificate-authority-data": base64(authority.pem) } }],
    users: [{ name: user, user: { "client-certificate-data": base64(certificate), "client-key-data": key } }],
    contexts: [{ name: "peer", context: { cluster: "peer", user, namespace } }],
    "current-context": "peer",
  });
}
