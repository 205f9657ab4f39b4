/** JSON as the lab's Kubernetes API holds it. */
export type JsonObject = Record<string, unknown>;

export interface Metadata extends JsonObject {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  labels?: Record<string, string>;
}

export interface KubernetesObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object, or an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value below a path of keys, or undefined. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  );
}

/** The text below a path of keys, or "". */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

/** The list below a path of keys, or an empty one. */
export function listAt(value: unknown, ...path: readonly string[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The texts of the list below a path of keys. */
export function textsAt(value: unknown, ...path: readonly string[]): string[] {
  return listAt(value, ...path).filter((entry) => typeof entry === "string");
}

/** Merges a JSON merge patch (RFC 7396) into a value. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: JsonObject = { ...objectOf(target) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

/** Tells whether two JSON values are the same, whatever the order of their keys. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((entry, index) => sameJson(entry, right[index]));
  }
  if (isObject(left) && isObject(right)) {
    const keys = Object.keys(left);
    return keys.length === Object.keys(right).length && keys.every((key) => sameJson(left[key], right[key]));
  }
  return left === right;
}
