import { fieldAt, withField } from "./fields.ts";

/**
 * Every change that a field of an accepted request gets, alone. For any protocol step: `changesOf` walks the request
 * itself, so a field without a row in the step's table fails the test (renewal walks its requests by the same).
 */
export const CHANGES = ["removed", "null", "retyped", "empty", "bit", "another's", "earlier"] as const;
export type ChangeKind = (typeof CHANGES)[number];

/** The code that each change gets, in the order of CHANGES; "-" where there is no such change of this field. */
export type Row = readonly [
  removed: string,
  isNull: string,
  retyped: string,
  empty: string,
  bit: string,
  anothers: string,
  earlier: string,
];

/** One field changed alone. */
export interface Changed {
  readonly path: string;
  readonly kind: ChangeKind;
  readonly body: unknown;
}

/** The requests that this one is mixed with: another machine's, and this machine's of an earlier session. */
export interface Others {
  readonly another: unknown;
  readonly earlier: unknown;
}

/** Every field of a JSON request by its path, objects and lists before what is in them. */
export function pathsOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = path === "" ? key : `${path}.${key}`;
    return [at, ...pathsOf(inner, at)];
  });
}

/** A path as a table has it: the members of a list, and the PCRs, have one row. */
export const rowName = (path: string): string => path.replace(/\.\d+(?=\.|$)/g, ".*");

/** Every change of every field that makes another request. */
export function changesOf(body: unknown, others: Others): Changed[] {
  return pathsOf(body).flatMap((path) =>
    CHANGES.flatMap((kind) => {
      const value = fieldAt(body, path);
      const next = changed(kind, value, path, others);
      if (next !== undefined && JSON.stringify(next) === JSON.stringify(value)) return [];
      if (next === undefined && kind !== "removed") return [];
      return [{ path, kind, body: withField(body, path, next) }];
    }),
  );
}

function changed(kind: ChangeKind, value: unknown, path: string, others: Others): unknown {
  switch (kind) {
    case "removed":
      return undefined;
    case "null":
      return null;
    case "retyped":
      return typeof value === "string" ? 7 : Array.isArray(value) ? { 0: value[0] } : [value];
    case "empty":
      return typeof value === "string" ? "" : Array.isArray(value) ? [] : {};
    case "bit":
      return typeof value === "string" ? oneBit(value) : undefined;
    case "another's":
      return fieldAt(others.another, path);
    case "earlier":
      return fieldAt(others.earlier, path);
  }
}

// One bit of the bytes that the text stands for; of the text itself where it stands for none.
function oneBit(text: string): string {
  if (/^([0-9a-f]{2})+$/.test(text)) return bitOf(text, "hex");
  const isBase64 = text.length > 8 && Buffer.from(text, "base64").toString("base64") === text;
  return bitOf(text, isBase64 ? "base64" : "latin1");
}

function bitOf(text: string, encoding: "hex" | "base64" | "latin1"): string {
  const bytes = Buffer.from(text, encoding);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  return bytes.toString(encoding);
}
