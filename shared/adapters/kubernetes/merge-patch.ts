import { type JsonObject, objectOf } from "./json.ts";

// What the CRDs of Tinkerbell v0.25.0 fill in by themselves where it was left out.
const DEFAULTED: readonly string[] = ["port", "hostScheme", "disableDhcp"];

/** The JSON merge patch (RFC 7396) that turns the stored value into the wanted one; null where nothing differs. */
export function mergePatch(stored: JsonObject, wanted: JsonObject): JsonObject | null {
  const patch: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(wanted)) {
    if (isObject(value) && isObject(stored[key])) {
      const inner = mergePatch(stored[key], value);
      if (inner !== null) patch[key] = inner;
    } else if (!covers(stored[key], value)) {
      patch[key] = value;
    }
  }
  for (const key of Object.keys(stored)) {
    if (!Object.hasOwn(wanted, key) && !DEFAULTED.includes(key)) patch[key] = null;
  }
  return Object.keys(patch).length === 0 ? null : patch;
}

/** The merge patch that adds or changes the wanted keys and leaves all others. */
export function additions(stored: JsonObject, wanted: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => stored[key] !== value));
}

function covers(stored: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(stored) &&
      stored.length === wanted.length &&
      wanted.every((entry, index) => covers(stored[index], entry))
    );
  }
  if (isObject(wanted)) return isObject(stored) && mergePatch(objectOf(stored), wanted) === null;
  return stored === wanted;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
