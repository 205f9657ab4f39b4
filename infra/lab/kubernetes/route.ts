import type { Resource } from "./resources.ts";

export interface Route {
  readonly resource: Resource;
  /** "" for all namespaces, and for kinds that have none. */
  readonly namespace: string;
  /** "" for the collection. */
  readonly name: string;
  readonly subresource: string;
}

/** Finds the kind, namespace, name and subresource of an API path; null where it is none of the API's. */
export function routeOf(pathname: string, resources: readonly Resource[]): Route | null {
  const parts = pathname
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const core = parts[0] === "api";
  if (!core && parts[0] !== "apis") return null;
  const [group, version] = core ? ["", parts[1]] : [parts[1], parts[2]];
  const rest = parts.slice(core ? 2 : 3);
  const inNamespace = rest[0] === "namespaces" && rest.length > 2;
  const [plural, name = "", subresource = ""] = inNamespace ? rest.slice(2) : rest;
  const resource = resources.find(
    (candidate) => candidate.group === group && candidate.version === version && candidate.plural === plural,
  );
  if (resource === undefined || (name !== "" && resource.namespaced !== inNamespace)) return null;
  return { resource, namespace: inNamespace ? (rest[1] ?? "") : "", name, subresource };
}
