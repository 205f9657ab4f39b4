import { createHash } from "node:crypto";
import type * as Fleet from "../../fleet/cluster.ts";
import { readCertificationRequest } from "../../formats/x509/certification-request.ts";
import { isPortError, PortError } from "../../ports/error.ts";
import type { ClusterCredentialsPort } from "../../ports/workload-cluster.ts";
import type { KubernetesClient } from "./client.ts";
import { remove } from "./cluster-nodes.ts";
import { at, type JsonObject, listAt, objectOf, textAt, textsAt, timeAt } from "./json.ts";
import { DEVICE_ID, identity, MANAGED_BY, OWNER, ownerDevice, selectors } from "./owned.ts";

const KUBELET_SIGNER: typeof Fleet.KUBELET_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";
const TOKEN_GROUP: typeof Fleet.TOKEN_GROUP = "system:bootstrappers:fleetd";
const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const SECRETS = "/api/v1/namespaces/kube-system/secrets";
const TOKEN_ID = /^[a-z0-9]{6}$/;
const TOKEN_SECRET = /^bootstrap-token-([a-z0-9]{6})$/;

/**
 * Bootstrap tokens and kubelet client certificates of the workload cluster.
 * @see facts/kubernetes-tinkerbell.md 3: bootstrap token, CSR, approval
 */
export function clusterCredentials(client: KubernetesClient): ClusterCredentialsPort {
  const tokenPath = (id: string) => `${SECRETS}/bootstrap-token-${encodeURIComponent(id)}`;
  return {
    async csrs() {
      const objects = await client.list(CSRS, { fieldSelector: `spec.signerName=${KUBELET_SIGNER}` });
      return objects.map(csrView).filter((csr) => csr.signerName === KUBELET_SIGNER);
    },
    approve: (csr, message) => approve(client, csr, message),
    deleteCsr: (name, uid) => remove(client, `${CSRS}/${encodeURIComponent(name)}`, { preconditions: { uid } }),
    async createToken(token, secret) {
      if (!TOKEN_ID.test(token.id)) throw new PortError("rejected", client.port, "token id is not six of a-z and 0-9");
      try {
        await client.call("POST", SECRETS, { body: tokenSecret(token, secret), quiet: true });
      } catch (error) {
        if (!isPortError(error, "conflict")) throw error;
        const stored = await client.call("GET", tokenPath(token.id), { quiet: true });
        if (!sameToken(stored, token, secret)) throw error;
      }
    },
    async bootstrapTokens(deviceIds) {
      const found: Fleet.TokenView[] = [];
      for (const labelSelector of selectors(deviceIds))
        found.push(...(await client.views(SECRETS, { labelSelector }, tokenView)));
      return found;
    },
    deleteToken: (id) => remove(client, tokenPath(id)),
    async othersApprove(group) {
      const review = await client.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        body: {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SubjectAccessReview",
          spec: {
            user: "system:bootstrap:fleetd",
            groups: ["system:bootstrappers", group, "system:authenticated"],
            resourceAttributes: {
              group: "certificates.k8s.io",
              resource: "certificatesigningrequests",
              subresource: "nodeclient",
              verb: "create",
            },
          },
        },
      });
      return at(review, "status", "allowed") === true;
    },
  };
}

/** Reads a bootstrap token of fleetd's; null for any other Secret. Its secret half goes with the page. */
export function tokenView(secret: JsonObject): Fleet.TokenView | null {
  const id = TOKEN_SECRET.exec(textAt(secret, "metadata", "name"))?.[1];
  const deviceId = ownerDevice(secret);
  if (id === undefined || deviceId === null) return null;
  const expiration = Buffer.from(textAt(secret, "data", "expiration"), "base64").toString("latin1");
  return { id, deviceId, expiresAtMs: timeAt({ expiration }, "expiration") };
}

/** Reads a CertificateSigningRequest (certificates.k8s.io/v1). */
export function csrView(object: JsonObject): Fleet.CsrView {
  const conditions = listAt(object, "status", "conditions").map((condition) => textAt(condition, "type"));
  const decided = (["Failed", "Denied", "Approved"] as const).find((type) => conditions.includes(type));
  const decision = { Failed: "failed", Denied: "denied", Approved: "approved" } as const;
  return {
    ...identity(object),
    username: textAt(object, "spec", "username"),
    groups: textsAt(object, "spec", "groups"),
    signerName: textAt(object, "spec", "signerName"),
    usages: textsAt(object, "spec", "usages"),
    decision: decided === undefined ? "pending" : decision[decided],
    request: csrRequest(textAt(object, "spec", "request")),
  };
}

/** Reads spec.request: base64 of one PEM block with a PKCS#10; null where it is anything else. */
export function csrRequest(request: string): Fleet.CsrRequest | null {
  const pem = Buffer.from(request, "base64").toString("latin1");
  const body = /^\s*-----BEGIN CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE REQUEST-----\s*$/.exec(
    pem,
  );
  if (body?.[1] === undefined) return null;
  try {
    const {
      spki,
      signed: _signed,
      untrustedSignature: _signature,
      ...fields
    } = readCertificationRequest(Buffer.from(body[1], "base64"));
    return { ...fields, spkiSha256: createHash("sha256").update(spki).digest("hex") };
  } catch {
    return null;
  }
}

async function approve(client: KubernetesClient, csr: Fleet.CsrView, message: string): Promise<void> {
  const path = `${CSRS}/${encodeURIComponent(csr.name)}`;
  const stored = await client.call("GET", path);
  const { uid, resourceVersion } = identity(stored);
  if (uid !== csr.uid || resourceVersion !== csr.resourceVersion) {
    throw new PortError("conflict", client.port, `${csr.name} is not the object that was judged`);
  }
  const status = objectOf(at(stored, "status"));
  const approved = { type: "Approved", status: "True", reason: "FleetdTokenMatch", message };
  await client.call("PUT", `${path}/approval`, {
    body: { ...stored, status: { ...status, conditions: [...listAt(status, "conditions"), approved] } },
  });
}

function tokenSecret(token: Fleet.BootstrapToken, secret: string): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "bootstrap.kubernetes.io/token",
    metadata: {
      name: `bootstrap-token-${token.id}`,
      namespace: "kube-system",
      labels: { [MANAGED_BY]: OWNER, [DEVICE_ID]: String(token.deviceId) },
    },
    stringData: tokenData(token, secret),
  };
}

function tokenData(token: Fleet.BootstrapToken, secret: string): Record<string, string> {
  return {
    "token-id": token.id,
    "token-secret": secret,
    "usage-bootstrap-authentication": "true",
    expiration: new Date(token.expiresAtMs).toISOString().replace(/\.\d{3}Z$/, "Z"),
    description: `fleetd: node ${token.node}`,
    "auth-extra-groups": TOKEN_GROUP,
  };
}

function sameToken(stored: JsonObject, token: Fleet.BootstrapToken, secret: string): boolean {
  const wanted = Object.entries(tokenData(token, secret));
  return wanted.every(([key, text]) => textAt(stored, "data", key) === Buffer.from(text).toString("base64"));
}
