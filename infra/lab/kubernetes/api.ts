import type { LabAuthority } from "./authority.ts";
import { evictPod } from "./eviction.ts";
import { type Faults, spend } from "./faults.ts";
import { at, type JsonObject, type KubernetesObject, mergePatch, objectOf, textAt, textsAt } from "./json.ts";
import { asObject, type ObjectStore } from "./object-store.ts";
import type { Attempt, Rbac } from "./rbac.ts";
import type { Resource } from "./resources.ts";
import { type Route, routeOf } from "./route.ts";
import { matcher } from "./selectors.ts";
import { admitSigningRequest, autoApproved, signRequest, updateSigningRequest } from "./signing-requests.ts";
import { ApiError, badRequest, forbidden, invalid, notFound } from "./status.ts";
import { authorize, authorizeApproval, type User } from "./users.ts";
import { admitObject, newObject } from "./write-object.ts";

export interface ApiRequest {
  readonly method: string;
  readonly pathname: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: unknown;
  readonly user: User;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

const VERBS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** The API's calls, without HTTP. */
export class LabApi {
  readonly store: ObjectStore;
  readonly resources: readonly Resource[];
  readonly #authority: LabAuthority;
  readonly #faults: Faults;
  readonly #rbac: Rbac;

  constructor(store: ObjectStore, resources: readonly Resource[], authority: LabAuthority, faults: Faults, rbac: Rbac) {
    this.store = store;
    this.resources = resources;
    this.#authority = authority;
    this.#faults = faults;
    this.#rbac = rbac;
  }

  /** @throws ApiError for every answer that is no success */
  handle(request: ApiRequest): ApiAnswer {
    const route = routeOf(request.pathname, this.resources);
    if (route === null) return this.#review(request);
    const { resource, namespace, name } = route;
    const verb = VERBS[request.method] ?? (name === "" ? "list" : "get");
    authorize(request.user, verb, route, request.body, this.#rbac);
    if (verb !== "list" && verb !== "get" && spend(this.#faults, "conflicts")) {
      throw new ApiError(409, "Conflict", "the lab answers a conflict");
    }
    if (verb === "list") return { status: 200, body: this.#list(route, request.query) };
    if (verb === "get") return { status: 200, body: this.store.get(resource, namespace, name) };
    if (verb === "delete") return { status: 200, body: this.#delete(route, request.body) };
    if (verb === "create" && route.subresource === "eviction") return this.#evict(route, request.body);
    if (verb === "create") return { status: 201, body: this.#create(route, request) };
    return this.#write(route, request);
  }

  #create({ resource, namespace }: Route, { body, query, user }: ApiRequest): KubernetesObject {
    if (resource.namespaced && namespace === "") throw badRequest("an empty namespace may not be set during creation");
    const object = newObject(body, resource);
    if (object.metadata.resourceVersion !== "")
      throw badRequest("resourceVersion should not be set on objects to be created");
    const checked = admitObject(object, body, resource, query.get("fieldValidation") === "Strict");
    if (resource.kind === "CertificateSigningRequest") {
      const made = this.store.create(resource, "", admitSigningRequest(checked, resource, user));
      setImmediate(() => this.#approve(resource, made.metadata.name, user));
      return made;
    }
    const { status: _dropped, ...rest } = checked;
    return this.store.create(resource, namespace, (resource.schema ? rest : checked) as KubernetesObject);
  }

  #write(route: Route, request: ApiRequest): ApiAnswer {
    const { resource, namespace, name } = route;
    const strict = request.query.get("fieldValidation") === "Strict";
    const apply = request.contentType.startsWith("application/apply-patch");
    if (apply && !this.store.has(resource, namespace, name)) {
      const object = asObject(request.body, resource, name);
      const checked = admitObject(object, request.body, resource, strict);
      return { status: 201, body: this.store.create(resource, namespace, checked) };
    }
    const stored = this.store.get(resource, namespace, name);
    if (route.subresource === "approval") authorizeApproval(request.user, stored, resource, this.#rbac);
    const sent = request.method === "PUT" ? request.body : patched(stored, request);
    if (request.method === "PUT" && textAt(sent, "metadata", "name") !== name) {
      throw badRequest("the name of the object does not match the name on the URL");
    }
    const checked = admitObject(asObject(sent, resource, name), sent, resource, strict);
    const next = this.#merged(route, stored, checked);
    // A patch is merged first and then its UID is found changed; a PUT's UID is a precondition.
    const { uid, resourceVersion } = next.metadata;
    const pinned = resourceVersion === "" || resourceVersion === stored.metadata.resourceVersion;
    if (request.method === "PATCH" && pinned && uid !== "" && uid !== stored.metadata.uid) {
      throw invalid(resource, name, "metadata.uid", `Invalid value: "${uid}": field is immutable`);
    }
    const body = this.store.update(resource, namespace, next);
    if (route.subresource === "approval") setImmediate(() => this.#sign(resource, name));
    return { status: 200, body };
  }

  /** Which part of the object a write may change: all but the status, or only the status. */
  #merged({ resource, subresource }: Route, stored: KubernetesObject, sent: KubernetesObject): KubernetesObject {
    if (resource.kind === "CertificateSigningRequest") return updateSigningRequest(stored, sent, resource, subresource);
    const { uid, resourceVersion } = sent.metadata;
    if (subresource === "status") {
      return { ...stored, metadata: { ...stored.metadata, uid, resourceVersion }, status: sent.status };
    }
    if (subresource !== "") throw notFound(resource, sent.metadata.name);
    if (resource.kind === "Secret" && sent.type !== stored.type) {
      throw invalid(resource, sent.metadata.name, "type", `Invalid value: "${sent.type}": field is immutable`);
    }
    if (resource.schema === undefined) return sent;
    const { status: _ignored, ...rest } = sent;
    const status = stored.status;
    return { ...rest, ...(status !== undefined && { status }) } as KubernetesObject;
  }

  #delete({ resource, namespace, name }: Route, body: unknown): JsonObject {
    if (name === "") throw new ApiError(405, "MethodNotAllowed", "the lab deletes objects one by one");
    const preconditions = objectOf(at(body, "preconditions"));
    const { metadata } = this.store.remove(resource, namespace, name, preconditions);
    if (resource.kind === "Node") setImmediate(() => this.#removePodsOf(name));
    const details = {
      name,
      ...(resource.group && { group: resource.group }),
      kind: resource.plural,
      uid: metadata.uid,
    };
    return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
  }

  #list({ resource, namespace }: Route, query: URLSearchParams): JsonObject {
    const matches = matcher(query.get("labelSelector") ?? "", query.get("fieldSelector") ?? "");
    const all = this.store.list(resource, namespace).filter(matches);
    const start = all.findIndex(startsAfter(query.get("continue"), this.#faults));
    const rest = start === -1 ? [] : all.slice(start);
    const limit = Number(query.get("limit") ?? 0) || rest.length;
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    const more = rest.length > page.length && last !== undefined;
    const token = more ? Buffer.from(JSON.stringify({ after: keyOf(last) })).toString("base64url") : undefined;
    return {
      kind: `${resource.kind}List`,
      apiVersion: resource.group === "" ? resource.version : `${resource.group}/${resource.version}`,
      metadata: {
        resourceVersion: this.store.resourceVersion,
        ...(token !== undefined && { continue: token, remainingItemCount: rest.length - page.length }),
      },
      items: resource.schema === undefined ? page.map(({ kind: _kind, apiVersion: _version, ...item }) => item) : page,
    };
  }

  #evict({ resource, namespace, name }: Route, body: unknown): ApiAnswer {
    const budgets = this.resources.find(({ plural }) => plural === "poddisruptionbudgets");
    if (budgets === undefined || resource.plural !== "pods") throw notFound(resource, name);
    const pod = this.store.get(resource, namespace, name);
    evictPod(this.store, { pods: resource, budgets }, pod, body, this.#faults.podsStayTerminating);
    return { status: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
  }

  #review({ pathname, body, user, method }: ApiRequest): ApiAnswer {
    const kind = pathname.split("/").at(-1);
    const review = objectOf(body);
    const group = "authorization.k8s.io";
    if (method === "POST" && kind === "subjectaccessreviews") {
      const attempt = { verb: "create", group, resource: kind, namespace: "", name: "" };
      const resource = { group, version: "v1", plural: kind, kind: "SubjectAccessReview", namespaced: false };
      if (!this.#rbac.letsThrough(user, attempt)) throw forbidden(user.name, "create", resource, "");
      return { status: 201, body: { ...review, status: { allowed: this.#mayOther(review) } } };
    }
    if (method === "POST" && kind === "selfsubjectaccessreviews") {
      return { status: 201, body: { ...review, status: { allowed: this.#rbac.allows(user, attemptOf(review)) } } };
    }
    if (method === "POST" && kind === "selfsubjectreviews") {
      return { status: 201, body: { ...review, status: { userInfo: { username: user.name, groups: user.groups } } } };
    }
    if (pathname === "/version") return { status: 200, body: { major: "1", minor: "36", gitVersion: "v1.36.3" } };
    if (pathname === "/readyz" || pathname === "/livez") return { status: 200, body: { status: "ok" } };
    throw new ApiError(404, "NotFound", "the server could not find the requested resource");
  }

  /** What others approve by themselves is a switch of the lab; all else is asked of RBAC. */
  #mayOther(review: JsonObject): boolean {
    const attempt = attemptOf(review);
    if (attempt.resource === "certificatesigningrequests/nodeclient") return this.#faults.othersApprove;
    const user = { name: textAt(review, "spec", "user"), groups: textsAt(review, "spec", "groups") };
    return this.#rbac.allows(user, attempt);
  }

  #approve(resource: Resource, name: string, user: User): void {
    if (!this.store.has(resource, "", name)) return;
    const attempt = { verb: "create", group: resource.group, namespace: "", name: "" };
    const may = this.#rbac.allows(user, { ...attempt, resource: `${resource.plural}/nodeclient` });
    const approved = autoApproved(this.store.get(resource, "", name), may);
    if (approved === null) return;
    this.store.update(resource, "", approved);
    this.#sign(resource, name);
  }

  #sign(resource: Resource, name: string): void {
    if (!this.store.has(resource, "", name)) return;
    const signed = signRequest(this.store.get(resource, "", name), this.#authority);
    if (signed !== null) this.store.update(resource, "", signed);
  }

  #removePodsOf(node: string): void {
    const pods = this.resources.find(({ plural }) => plural === "pods");
    if (pods === undefined) return;
    for (const { metadata, ...pod } of this.store.list(pods, "")) {
      if (textAt(pod, "spec", "nodeName") === node)
        this.store.remove(pods, metadata.namespace ?? "", metadata.name, {});
    }
  }
}

function attemptOf(review: JsonObject): Attempt {
  const asked = (key: string) => textAt(review, "spec", "resourceAttributes", key);
  const sub = asked("subresource");
  return {
    verb: asked("verb"),
    group: asked("group"),
    resource: sub === "" ? asked("resource") : `${asked("resource")}/${sub}`,
    namespace: asked("namespace"),
    name: asked("name"),
  };
}

function patched(stored: KubernetesObject, { contentType, body }: ApiRequest): unknown {
  if (contentType.startsWith("application/json-patch")) {
    throw new ApiError(415, "UnsupportedMediaType", "the lab takes merge patches and server-side apply");
  }
  const merged = objectOf(mergePatch(stored, body));
  const { uid = "", resourceVersion = "" } = objectOf(at(body, "metadata"));
  return { ...merged, metadata: { ...objectOf(merged.metadata), uid, resourceVersion } };
}

function keyOf(object: KubernetesObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

function startsAfter(token: string | null, faults: Faults): (object: KubernetesObject) => boolean {
  if (token === null || token === "") return () => true;
  if (spend(faults, "expiredContinues")) {
    throw new ApiError(
      410,
      "Expired",
      "The provided continue parameter is too old to display a consistent list result.",
    );
  }
  const after = afterOf(token);
  return (object) => keyOf(object) > after;
}

function afterOf(token: string): string {
  try {
    return textAt(JSON.parse(Buffer.from(token, "base64url").toString()), "after");
  } catch {
    throw badRequest("invalid continue token: continue key is not valid");
  }
}
