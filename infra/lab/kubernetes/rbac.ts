import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { listAt, textAt, textsAt } from "./json.ts";

interface Subject {
  readonly name: string;
  readonly groups: readonly string[];
}

/** What somebody wants to do, in the words of an RBAC rule. */
export interface Attempt {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods/eviction`. */
  readonly resource: string;
  /** "" for all namespaces, and for kinds that have none. */
  readonly namespace: string;
  readonly name: string;
}

interface Grant {
  readonly users: readonly string[];
  readonly groups: readonly string[];
  /** "": in every namespace. */
  readonly namespace: string;
  readonly rules: readonly unknown[];
}

const MANIFESTS = { tinkerbell: "tinkerbell-rbac", cluster: "workload-rbac" };
/** Roles that every cluster has, as far as the manifests bind them. */
const BUILT_IN: Readonly<Record<string, readonly unknown[]>> = {
  "system:node-bootstrapper": [
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["certificatesigningrequests"],
      verbs: ["create", "get", "list", "watch"],
    },
  ],
};
const REVIEWS = ["selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"];

/** The rights that the manifests of infra/kubernetes give, and those that every cluster has. */
export class Rbac {
  readonly #grants: readonly Grant[];
  /** Rights that a call was let through by, as `patch nodes` or `update certificatesigningrequests/approval.certificates.k8s.io`. */
  readonly used = new Set<string>();

  constructor(kinds: "tinkerbell" | "cluster") {
    const file = new URL(`../../kubernetes/${MANIFESTS[kinds]}.yaml`, import.meta.url);
    const objects = parseAllDocuments(readFileSync(file, "utf8")).map((document): unknown => document.toJS());
    const bindings = objects.filter((object) => textAt(object, "kind").endsWith("Binding"));
    this.#grants = bindings.map((binding) => grantOf(binding, objects));
  }

  /** The same as `allows` of a call that is made now: what the manifests let through is remembered. */
  letsThrough(user: Subject, attempt: Attempt): boolean {
    const allowed = this.allows(user, attempt);
    const { verb, group, resource } = attempt;
    if (allowed && !user.groups.includes("system:masters"))
      this.used.add(`${verb} ${resource}${group === "" ? "" : `.${group}`}`);
    return allowed;
  }

  allows(user: Subject, attempt: Attempt): boolean {
    if (user.groups.includes("system:masters")) return true;
    if (user.groups.includes("system:authenticated") && REVIEWS.includes(attempt.resource)) return true;
    return this.#grants.some(
      ({ users, groups, namespace, rules }) =>
        (users.includes(user.name) || groups.some((group) => user.groups.includes(group))) &&
        (namespace === "" || namespace === attempt.namespace) &&
        rules.some((rule) => covers(rule, attempt)),
    );
  }
}

function grantOf(binding: unknown, objects: readonly unknown[]): Grant {
  const namespace = textAt(binding, "metadata", "namespace");
  const role = objects.find(
    (object) =>
      textAt(object, "kind") === textAt(binding, "roleRef", "kind") &&
      textAt(object, "metadata", "name") === textAt(binding, "roleRef", "name") &&
      textAt(object, "metadata", "namespace") === namespace,
  );
  const named = (kind: string) =>
    listAt(binding, "subjects")
      .filter((subject) => textAt(subject, "kind") === kind)
      .map((subject) => textAt(subject, "name"));
  return {
    users: named("User"),
    groups: named("Group"),
    namespace,
    rules: role === undefined ? (BUILT_IN[textAt(binding, "roleRef", "name")] ?? []) : listAt(role, "rules"),
  };
}

function covers(rule: unknown, { verb, group, resource, name }: Attempt): boolean {
  const has = (key: string, value: string) => textsAt(rule, key).some((one) => one === value || one === "*");
  const names = textsAt(rule, "resourceNames");
  const named = names.length === 0 || names.includes(name);
  return has("verbs", verb) && has("apiGroups", group) && has("resources", resource) && named;
}
