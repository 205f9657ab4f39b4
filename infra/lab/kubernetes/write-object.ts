import { randomBytes } from "node:crypto";
import { at, isObject, type JsonObject, type KubernetesObject, objectOf, textAt } from "./json.ts";
import { asObject } from "./object-store.ts";
import type { Resource } from "./resources.ts";
import { checkSchema, type SchemaFindings } from "./schema.ts";
import { badRequest, invalid } from "./status.ts";

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** Reads the body of a create: its name, made from generateName where it has none. */
export function newObject(body: unknown, resource: Resource): KubernetesObject {
  const prefix = textAt(body, "metadata", "generateName");
  const given = textAt(body, "metadata", "name");
  const name = given === "" && prefix !== "" ? `${prefix}${randomBytes(3).toString("hex").slice(0, 5)}` : given;
  if (name === "") throw invalid(resource, "", "metadata.name", "Required value: name or generateName is required");
  return asObject(body, resource, name);
}

/**
 * Checks an object as the API server does before it stores it: kind, name, labels, the CRD's schema.
 * @throws ApiError 400 for unknown fields where validation is strict, 422 for values that the schema refuses
 */
export function admitObject(
  object: KubernetesObject,
  body: unknown,
  resource: Resource,
  strict: boolean,
): KubernetesObject {
  const { name, labels } = object.metadata;
  const kind = textAt(body, "kind");
  // Only built-in kinds are known by their path alone.
  if (kind === "" && resource.schema !== undefined)
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): Object 'Kind' is missing`,
    );
  if (kind !== "" && kind !== resource.kind)
    throw badRequest(`the object provided is a ${kind}, not a ${resource.kind}`);
  if (!NAME.test(name) && resource.kind !== "CertificateSigningRequest") {
    const why = `Invalid value: "${name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumerics`;
    throw invalid(resource, name, "metadata.name", why);
  }
  for (const value of Object.values(objectOf(labels))) {
    if (typeof value !== "string") throw badRequest("json: cannot unmarshal into Go struct field ObjectMeta.labels");
    if (value.length > 63) {
      throw invalid(resource, name, "metadata.labels", `Invalid value: "${value}": must be no more than 63 bytes`);
    }
    if (!LABEL_VALUE.test(value)) {
      throw invalid(
        resource,
        name,
        "metadata.labels",
        `Invalid value: "${value}": a valid label must be alphanumerics`,
      );
    }
  }
  return resource.kind === "Secret" ? foldStringData(object) : checkedObject(object, resource, strict);
}

function checkedObject(object: KubernetesObject, resource: Resource, strict: boolean): KubernetesObject {
  if (resource.schema === undefined) return object;
  const findings: SchemaFindings = { unknown: [], errors: [] };
  const { apiVersion, kind, metadata, ...rest } = object;
  const properties = objectOf(resource.schema.properties);
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...own } = properties;
  const checked = objectOf(checkSchema({ ...resource.schema, properties: own }, rest, "", findings));
  if (strict && findings.unknown.length > 0) {
    const words = findings.unknown.map((field) => `unknown field "${field}"`).join(", ");
    const what = `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}`;
    throw badRequest(`${what}: strict decoding error: ${words}`);
  }
  const [first] = findings.errors;
  if (first !== undefined) throw invalid(resource, metadata.name, first.field, first.why);
  return { ...checked, apiVersion, kind, metadata };
}

function foldStringData({ stringData, ...object }: KubernetesObject): KubernetesObject {
  if (!isObject(stringData)) return object as KubernetesObject;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")]);
  const data: JsonObject = { ...objectOf(at(object, "data")), ...Object.fromEntries(encoded) };
  return { ...object, data } as KubernetesObject;
}
