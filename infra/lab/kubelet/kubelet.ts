import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  writeCertificationRequest,
  writeCertificationRequestInfo,
} from "../../../shared/formats/x509/certification-request.ts";
import { pem } from "../kubernetes/authority.ts";
import { ClientError, LabClient } from "../kubernetes/client.ts";
import { listAt, textAt } from "../kubernetes/json.ts";
import { type KubeletConfig, readMachineConfig } from "./machine-config.ts";

export interface KubeletOptions {
  /** Text of the Talos machine configuration. */
  readonly machineConfig: string;
  /** How long it waits for its certificate. */
  readonly timeoutMs: number;
  readonly pollMs?: number;
  /** The key in PEM of an earlier start, whose request it takes up again. */
  readonly keyPem?: string;
  /** An impostor asks for another node's name. */
  readonly nodeName?: string;
}

export interface Kubelet {
  readonly nodeName: string;
  readonly csrName: string;
  readonly keyPem: string;
  readonly certificatePem: string;
  /** The API with the node's own certificate. */
  readonly client: LabClient;
}

const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const USAGES = ["digital signature", "client auth"];

/**
 * Boots a kubelet as far as fleetd sees it: a P-256 key, a request with the bootstrap token, the wait for the
 * certificate, and the Node object made with that.
 * @throws ClientError where the API refuses; Error where the request is denied or no certificate comes in time
 * @see facts/kubernetes-tinkerbell.md 3, "First kubelet CSR"
 */
export async function bootKubelet(options: KubeletOptions): Promise<Kubelet> {
  const config = readMachineConfig(options.machineConfig);
  const nodeName = options.nodeName ?? config.nodeName;
  const keyPem = options.keyPem ?? newKey();
  const bootstrap = new LabClient({ url: config.url, caPem: config.caPem, token: config.bootstrapToken });
  try {
    const csrName = await request(bootstrap, nodeName, keyPem);
    const certificatePem = await waitForCertificate(bootstrap, csrName, options);
    const client = nodeClient(config, certificatePem, keyPem);
    await register(client, nodeName);
    return { nodeName, csrName, keyPem, certificatePem, client };
  } finally {
    bootstrap.close();
  }
}

/** A client with a node's certificate, as an old one may be used again. */
export function nodeClient(config: Pick<KubeletConfig, "url" | "caPem">, cert: string, key: string): LabClient {
  return new LabClient({ url: config.url, caPem: config.caPem, certificate: { cert, key } });
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

async function request(client: LabClient, nodeName: string, keyPem: string): Promise<string> {
  const key = createPrivateKey(keyPem);
  const spki = createPublicKey(keyPem).export({ type: "spki", format: "der" });
  const subject = { organizations: ["system:nodes"], commonName: `system:node:${nodeName}` };
  const info = writeCertificationRequestInfo(subject, spki);
  const der = writeCertificationRequest(info, sign("sha256", info, key));
  // The same key, subject and usages make the same name: a kubelet that restarts takes its request up again.
  const digest = createHash("sha512-256").update(spki).update(subject.commonName).update(USAGES.join(","));
  const name = `node-csr-${digest.digest("base64url")}`;
  try {
    await client.call("POST", CSRS, {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name },
      spec: {
        request: Buffer.from(pem("CERTIFICATE REQUEST", der)).toString("base64"),
        signerName: "kubernetes.io/kube-apiserver-client-kubelet",
        usages: USAGES,
      },
    });
  } catch (error) {
    if (!(error instanceof ClientError) || error.status !== 409) throw error;
  }
  return name;
}

async function waitForCertificate(
  client: LabClient,
  name: string,
  { timeoutMs, pollMs = 200 }: KubeletOptions,
): Promise<string> {
  for (const startedAtMs = Date.now(); Date.now() - startedAtMs < timeoutMs; ) {
    const csr = await client.get(`${CSRS}/${name}`);
    if (csr === null) throw new Error(`${name} is gone`);
    const certificate = textAt(csr, "status", "certificate");
    if (certificate !== "") return Buffer.from(certificate, "base64").toString();
    const end = listAt(csr, "status", "conditions").find((entry) =>
      ["Denied", "Failed"].includes(textAt(entry, "type")),
    );
    if (end !== undefined) throw new Error(`${name}: ${textAt(end, "type")}: ${textAt(end, "message")}`);
    await sleep(pollMs);
  }
  throw new Error(`${name}: no certificate in ${timeoutMs} ms`);
}

async function register(client: LabClient, name: string): Promise<void> {
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name } },
    spec: {},
  };
  const holder = { holderIdentity: name, leaseDurationSeconds: 40 };
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec: holder };
  for (const [path, body] of [
    ["/api/v1/nodes", node],
    ["/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", lease],
  ] as const) {
    try {
      await client.call("POST", path, body);
    } catch (error) {
      if (!(error instanceof ClientError) || error.status !== 409) throw error;
    }
  }
}
