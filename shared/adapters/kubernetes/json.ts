/** Reading of untyped JSON: every accessor answers with an empty value where the shape differs. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object, or an empty one. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** The value below a path of keys, or undefined. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    const object = objectOf(inner);
    return Object.hasOwn(object, key) ? object[key] : undefined;
  }, value);
}

/** The text below a path of keys, or "". */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

/** The list below a path of keys, or an empty one. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The texts of the list below a path of keys. */
export function textsAt(value: unknown, ...path: readonly string[]): string[] {
  return listAt(value, ...path).filter((entry) => typeof entry === "string");
}

/** The RFC 3339 time below a path of keys in milliseconds, or null. */
export function timeAt(value: unknown, ...path: readonly string[]): number | null {
  const timeMs = Date.parse(textAt(value, ...path));
  return Number.isNaN(timeMs) ? null : timeMs;
}

/** The number of seconds below a path of keys, or 0. */
export function secondsAt(value: unknown, ...path: readonly string[]): number {
  const found = at(value, ...path);
  return typeof found === "number" ? found : 0;
}

/** The map of texts below a path of keys. */
export function textMapAt(value: unknown, ...path: readonly string[]): Record<string, string> {
  const entries = Object.entries(objectOf(at(value, ...path)));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
