import { at, isObject, type JsonObject, listAt, objectOf, textAt, textsAt } from "./json.ts";

export interface SchemaFindings {
  /** Paths that the schema doesn't know. They are cut from the value. */
  readonly unknown: string[];
  readonly errors: { readonly field: string; readonly why: string }[];
}

/** Checks a value against an openAPIV3Schema of a CRD; returns it with defaults filled in and unknown fields cut. */
export function checkSchema(schema: JsonObject, value: unknown, path: string, findings: SchemaFindings): unknown {
  const fail = (why: string) => findings.errors.push({ field: path, why });
  if (schema["x-kubernetes-int-or-string"] === true) return value;
  const type = textAt(schema, "type");
  if (!isOfType(value, type)) {
    fail(`Invalid value: "${Array.isArray(value) ? "array" : typeof value}": ${path} must be of type ${type}`);
    return value;
  }
  if (isObject(value)) return checkObject(schema, value, path, findings);
  if (Array.isArray(value)) {
    const minimum = schema.minItems;
    if (typeof minimum === "number" && value.length < minimum) {
      fail(`Invalid value: ${value.length}: ${path} in body should have at least ${minimum} items`);
    }
    return value.map((entry, index) => checkSchema(objectOf(schema.items), entry, `${path}[${index}]`, findings));
  }
  checkScalar(schema, value, path, fail);
  return value;
}

function checkObject(schema: JsonObject, value: JsonObject, path: string, findings: SchemaFindings): JsonObject {
  const properties = objectOf(schema.properties);
  const additional = schema.additionalProperties;
  const below = (key: string) => (path === "" ? key : `${path}.${key}`);
  const checked: JsonObject = {};
  for (const [key, property] of Object.entries(properties)) {
    const given = value[key] ?? at(property, "default");
    if (given !== undefined) checked[key] = checkSchema(objectOf(property), given, below(key), findings);
  }
  for (const [key, entry] of Object.entries(value)) {
    if (Object.hasOwn(properties, key)) continue;
    if (isObject(additional)) checked[key] = checkSchema(additional, entry, below(key), findings);
    else if (schema.properties === undefined) checked[key] = entry;
    else findings.unknown.push(below(key));
  }
  for (const key of textsAt(schema, "required")) {
    if (checked[key] === undefined) findings.errors.push({ field: below(key), why: "Required value" });
  }
  const maximum = schema.maxProperties;
  if (typeof maximum === "number" && Object.keys(checked).length > maximum) {
    const why = `Too many: ${Object.keys(checked).length}: must have at most ${maximum} item`;
    findings.errors.push({ field: path, why });
  }
  return checked;
}

function checkScalar(schema: JsonObject, value: unknown, path: string, fail: (why: string) => void): void {
  const allowed = listAt(schema, "enum");
  if (allowed.length > 0 && !allowed.includes(value)) {
    const names = allowed.map((entry) => `"${entry}"`).join(", ");
    fail(`Unsupported value: ${JSON.stringify(value)}: supported values: ${names}`);
  }
  const pattern = textAt(schema, "pattern");
  if (pattern !== "" && typeof value === "string" && !expression(pattern).test(value)) {
    fail(`Invalid value: ${JSON.stringify(value)}: ${path} in body should match '${pattern}'`);
  }
  const shortest = schema.minLength;
  if (typeof shortest === "number" && typeof value === "string" && value.length < shortest) {
    fail(`Invalid value: "": ${path} in body should be at least ${shortest} chars long`);
  }
}

/** Go's inline flag at the start of a pattern is a flag of the whole one here. */
function expression(pattern: string): RegExp {
  return pattern.startsWith("(?i)") ? new RegExp(pattern.slice(4), "i") : new RegExp(pattern);
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "object") return isObject(value);
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return type === "" || type === (typeof value as string);
}
