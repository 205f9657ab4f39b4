import type { JsonObject } from "./json.ts";
import type { Resource } from "./resources.ts";

/** An answer that is no success: HTTP status, the Status object's reason, message and details. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    reason: string | null,
    message: string,
    details?: JsonObject,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.body = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      ...(reason !== null && { reason }),
      ...(details !== undefined && { details }),
      code: status,
    };
  }
}

const qualified = (resource: Resource) =>
  resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
const kindOf = (resource: Resource) => (resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`);
const detailsOf = (resource: Resource, name: string, more: JsonObject = {}): JsonObject => ({
  name,
  ...(resource.group !== "" && { group: resource.group }),
  kind: resource.plural,
  ...more,
});

export function notFound(resource: Resource, name: string): ApiError {
  return new ApiError(404, "NotFound", `${qualified(resource)} "${name}" not found`, detailsOf(resource, name));
}

export function alreadyExists(resource: Resource, name: string): ApiError {
  const message = `${qualified(resource)} "${name}" already exists`;
  return new ApiError(409, "AlreadyExists", message, detailsOf(resource, name));
}

export function conflict(resource: Resource, name: string, why?: string): ApiError {
  const because = why ?? "the object has been modified; please apply your changes to the latest version and try again";
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${because}`;
  return new ApiError(409, "Conflict", message, detailsOf(resource, name));
}

export function wrongUid(resource: Resource, name: string, wanted: string, found: string): ApiError {
  const why =
    `the UID in the precondition (${wanted}) does not match the UID in record (${found}). ` +
    "The object might have been deleted and then recreated";
  // A failed precondition names the kind where other conflicts name the resource.
  return conflict({ ...resource, plural: resource.kind }, name, why);
}

export function invalid(resource: Resource, name: string, field: string, why: string): ApiError {
  const message = `${kindOf(resource)} "${name}" is invalid: ${field}: ${why}`;
  const causes = [
    { reason: why.startsWith("Forbidden") ? "FieldValueForbidden" : "FieldValueInvalid", message: why, field },
  ];
  return new ApiError(422, "Invalid", message, detailsOf(resource, name, { kind: resource.kind, causes }));
}

/** A call that the user may not make, with the server's reason; without one RBAC's words. */
export function forbidden(
  user: string,
  verb: string,
  resource: Resource,
  name: string,
  namespace = "",
  why?: string,
): ApiError {
  const scope = namespace === "" ? " at the cluster scope" : ` in the namespace "${namespace}"`;
  const words = `User "${user}" cannot ${verb} resource "${resource.plural}" in API group "${resource.group}"${scope}`;
  const what = name === "" ? qualified(resource) : `${qualified(resource)} "${name}"`;
  return new ApiError(403, "Forbidden", `${what} is forbidden: ${why ?? words}`, detailsOf(resource, name));
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, "BadRequest", message);
}

export function unauthorized(): ApiError {
  return new ApiError(401, "Unauthorized", "Unauthorized");
}
