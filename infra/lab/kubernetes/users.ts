import type { TLSSocket } from "node:tls";
import { at, type KubernetesObject, textAt, textsAt } from "./json.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Rbac } from "./rbac.ts";
import type { Resource } from "./resources.ts";
import type { Route } from "./route.ts";
import { forbidden, unauthorized } from "./status.ts";

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

const TOKEN_TYPE = "bootstrap.kubernetes.io/token";

/** Who asks: a static token, a client certificate of the cluster's authority, a bootstrap token, or nobody. */
export function authenticate(
  authorization: string | undefined,
  socket: TLSSocket,
  tokens: ReadonlyMap<string, User>,
  bootstrapToken: (id: string) => KubernetesObject | null,
): User {
  const bearer = /^Bearer (.+)$/.exec(authorization ?? "")?.[1];
  if (bearer !== undefined) {
    const user = tokens.get(bearer) ?? bootstrapUser(bearer, bootstrapToken);
    if (user === null) throw unauthorized();
    return authenticated(user);
  }
  const { subject } = socket.getPeerCertificate();
  if (subject === undefined) return { name: "system:anonymous", groups: ["system:unauthenticated"] };
  if (!socket.authorized) throw unauthorized();
  const organizations = at(subject, "O");
  const groups = typeof organizations === "string" ? [organizations] : textsAt(subject, "O");
  return authenticated({ name: textAt(subject, "CN"), groups });
}

/** Finds a bootstrap token's Secret in kube-system. */
export function secretOfToken(store: ObjectStore, secrets: Resource): (id: string) => KubernetesObject | null {
  return (id) => {
    const name = `bootstrap-token-${id}`;
    return store.has(secrets, "kube-system", name) ? store.get(secrets, "kube-system", name) : null;
  };
}

/** True for a bootstrap token whose expiration has passed, or can't be read. */
export function isExpiredToken(secret: KubernetesObject): boolean {
  const expiration = Buffer.from(textAt(secret, "data", "expiration"), "base64").toString();
  return textAt(secret, "type") === TOKEN_TYPE && expiration !== "" && !(Date.parse(expiration) > Date.now());
}

function bootstrapUser(bearer: string, bootstrapToken: (id: string) => KubernetesObject | null): User | null {
  const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(bearer) ?? [];
  const stored = id === undefined ? null : bootstrapToken(id);
  if (stored === null || textAt(stored, "type") !== TOKEN_TYPE) return null;
  const data = (key: string) => Buffer.from(textAt(stored, "data", key), "base64").toString();
  if (data("token-secret") !== secret || data("usage-bootstrap-authentication") !== "true") return null;
  if (isExpiredToken(stored)) return null;
  const extra = data("auth-extra-groups")
    .split(",")
    .filter((group) => group !== "");
  // One group outside the prefix makes the whole token worthless.
  if (!extra.every((group) => /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/.test(group))) return null;
  return { name: `system:bootstrap:${id}`, groups: ["system:bootstrappers", ...extra] };
}

function authenticated({ name, groups }: User): User {
  return { name, groups: [...groups, "system:authenticated"] };
}

/**
 * What a bootstrap token and a node may do; everybody else has the rights that RBAC gives.
 * @see facts/kubernetes-tinkerbell.md 3: a node may undo its own cordon, not its taints
 */
export function authorize(
  user: User,
  verb: string,
  { resource, namespace, name, subresource }: Route,
  body: unknown,
  rbac: Rbac,
): void {
  const { group, plural } = resource;
  const target = name || (verb === "create" ? textAt(body, "metadata", "name") : "");
  const sub = subresource === "" ? resource : { ...resource, plural: `${plural}/${subresource}` };
  if (user.groups.includes("system:bootstrappers")) {
    const asks = plural === "certificatesigningrequests" && subresource === "";
    if (asks && ["create", "get", "list", "watch"].includes(verb)) return;
    throw forbidden(user.name, verb, sub, name, namespace);
  }
  if (!user.groups.includes("system:nodes")) {
    if (rbac.letsThrough(user, { verb, group, resource: sub.plural, namespace, name })) return;
    throw forbidden(user.name, verb, sub, name, namespace);
  }
  const self = user.name.replace(/^system:node:/, "");
  if (plural === "nodes") {
    if (!["create", "get", "update", "patch"].includes(verb)) throw forbidden(user.name, verb, resource, target);
    const refuse = (why: string) =>
      forbidden(user.name, verb, resource, target, "", `node "${self}" is not allowed to ${why}`);
    if (target !== self) throw refuse(`modify node "${target}"`);
    if (verb !== "create" && at(body, "spec", "taints") !== undefined) throw refuse("modify taints");
    return;
  }
  if (plural === "leases" || (plural === "certificatesigningrequests" && verb !== "delete") || plural === "pods")
    return;
  throw forbidden(user.name, verb, sub, target, namespace);
}

/** An approval needs a second right: `approve` on the request's signer. */
export function authorizeApproval(user: User, request: KubernetesObject, resource: Resource, rbac: Rbac): void {
  const signer = textAt(request, "spec", "signerName");
  const attempt = { verb: "approve", group: resource.group, resource: "signers", namespace: "", name: signer };
  if (rbac.letsThrough(user, attempt)) return;
  const why = `user not permitted to approve requests with signerName ${JSON.stringify(signer)}`;
  throw forbidden(user.name, "update", resource, request.metadata.name, "", why);
}
