import { createPublicKey, verify } from "node:crypto";
import { readCertificationRequest } from "../../../shared/formats/x509/certification-request.ts";
import type { LabAuthority } from "./authority.ts";
import { at, type JsonObject, type KubernetesObject, listAt, objectOf, sameJson, textAt, textsAt } from "./json.ts";
import { secondsNow } from "./object-store.ts";
import type { Resource } from "./resources.ts";
import { invalid } from "./status.ts";
import type { User } from "./users.ts";

const KUBELET_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";
const KUBELET_USAGES = ["digital signature", "client auth", "key encipherment"];

/** A CertificateSigningRequest as the server stores it: who asked is what the server saw, not what was sent. */
export function admitSigningRequest(object: KubernetesObject, resource: Resource, user: User): KubernetesObject {
  const spec = objectOf(object.spec);
  const { name } = object.metadata;
  if (textAt(spec, "signerName") === "") throw invalid(resource, name, "spec.signerName", "Required value");
  if (textsAt(spec, "usages").length === 0) throw invalid(resource, name, "spec.usages", "Required value");
  if (requestOf(spec) === null) {
    throw invalid(resource, name, "spec.request", "Invalid value: PEM block type must be CERTIFICATE REQUEST");
  }
  return { ...object, spec: { ...spec, username: user.name, groups: [...user.groups] }, status: {} };
}

/**
 * The request with the approval of the cluster's own controller, where it asks for what it should and its sender may
 * approve such by itself; else null.
 */
export function autoApproved(object: KubernetesObject, mayApproveItself: boolean): KubernetesObject | null {
  const spec = objectOf(object.spec);
  const request = requestOf(spec);
  if (!mayApproveItself || request === null || textAt(spec, "signerName") !== KUBELET_SIGNER) return null;
  if (shapeProblem(request, textsAt(spec, "usages")) !== "") return null;
  const message = "Auto approving kubelet client certificate after SubjectAccessReview.";
  const approved = { type: "Approved", status: "True", reason: "AutoApproved", message };
  return { ...object, status: { conditions: [timed(object, approved)] } };
}

/**
 * The object after a write to the main, `approval` or `status` resource: the spec never changes, an approval only
 * grows, and only `approval` may decide.
 */
export function updateSigningRequest(
  stored: KubernetesObject,
  sent: KubernetesObject,
  resource: Resource,
  subresource: string,
): KubernetesObject {
  const kept = { ...sent, spec: stored.spec, status: stored.status };
  if (subresource === "") return kept;
  const before = conditionTypes(stored);
  const after = conditionTypes(sent);
  const refuse = (why: string) => invalid(resource, stored.metadata.name, "status.conditions", why);
  for (const type of ["Approved", "Denied", "Failed"]) {
    const had = before.includes(type);
    const has = after.includes(type);
    if (had && !has) throw refuse(`Forbidden: updates may not remove a condition of type "${type}"`);
    if (!had && has && type !== "Failed" && subresource === "status") {
      throw refuse(`Forbidden: updates may not add a condition of type "${type}"`);
    }
  }
  if (after.includes("Approved") && after.includes("Denied")) {
    throw refuse('Invalid value: "Denied": Approved and Denied conditions are mutually exclusive');
  }
  const conditions = listAt(sent, "status", "conditions").map((condition) => timed(stored, objectOf(condition)));
  const certificate = at(subresource === "status" ? sent : stored, "status", "certificate");
  return { ...kept, status: { conditions, ...(certificate !== undefined && { certificate }) } };
}

/** What the signer of kubelet client certificates does with an approved request; null where it is not its turn. */
export function signRequest(object: KubernetesObject, authority: LabAuthority): KubernetesObject | null {
  const spec = objectOf(object.spec);
  const types = conditionTypes(object);
  const done = types.includes("Failed") || types.includes("Denied") || textAt(object, "status", "certificate") !== "";
  if (!types.includes("Approved") || done || textAt(spec, "signerName") !== KUBELET_SIGNER) return null;
  const request = requestOf(spec);
  const problem = request === null ? "request can't be read" : shapeProblem(request, textsAt(spec, "usages"));
  const status = objectOf(object.status);
  if (request === null || problem !== "") {
    const failed = { type: "Failed", status: "True", reason: "SignerValidationFailure", message: problem };
    return { ...object, status: { ...status, conditions: [...listAt(status, "conditions"), timed(object, failed)] } };
  }
  const { commonName, organizations, spki } = request;
  const certificate = authority.issue({ commonName, organizations, use: "client" }, spki);
  return { ...object, status: { ...status, certificate: Buffer.from(certificate).toString("base64") } };
}

type Request = ReturnType<typeof readCertificationRequest>;

function shapeProblem(request: Request, usages: readonly string[]): string {
  if (!sameJson(request.organizations, ["system:nodes"])) return "subject organization is not system:nodes";
  if (!request.commonName.startsWith("system:node:")) return "subject common name does not begin with system:node:";
  if (request.hasSan) return "DNS, IP, email and URI SANs are not allowed";
  if (!usages.includes("client auth") || !usages.every((usage) => KUBELET_USAGES.includes(usage))) {
    return "usages did not match";
  }
  return "";
}

function requestOf(spec: JsonObject): Request | null {
  const text = Buffer.from(textAt(spec, "request"), "base64").toString("latin1");
  const body = /-----BEGIN CERTIFICATE REQUEST-----([^-]+)-----END CERTIFICATE REQUEST-----/.exec(text)?.[1];
  if (body === undefined) return null;
  try {
    const request = readCertificationRequest(Buffer.from(body, "base64"));
    const key = createPublicKey({ key: Buffer.from(request.spki), type: "spki", format: "der" });
    return verify("sha256", request.signed, key, request.untrustedSignature) ? request : null;
  } catch {
    return null;
  }
}

function conditionTypes(object: KubernetesObject): string[] {
  return listAt(object, "status", "conditions").map((condition) => textAt(condition, "type"));
}

function timed(stored: KubernetesObject, condition: JsonObject): JsonObject {
  const type = textAt(condition, "type");
  const before = listAt(stored, "status", "conditions").find((entry) => textAt(entry, "type") === type);
  const now = secondsNow();
  const times = { lastUpdateTime: now, lastTransitionTime: now };
  return { ...condition, ...times, ...(before !== undefined && objectOf(before)), ...withoutTimes(condition) };
}

function withoutTimes({ lastUpdateTime: _updated, lastTransitionTime: _moved, ...rest }: JsonObject): JsonObject {
  return rest;
}
