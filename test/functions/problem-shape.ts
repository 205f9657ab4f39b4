import { expect } from "vitest";
import { z } from "zod";
import { openapiDocument } from "../../functions/openapi.ts";

type Schema = Parameters<typeof z.fromJSONSchema>[0];
type Content = Readonly<Record<string, { readonly schema: Schema }>>;
interface Document {
  readonly paths: Readonly<
    Record<string, { readonly post: { readonly responses: Readonly<Record<string, { readonly content: Content }>> } }>
  >;
}

/** The JSON Schema that the document has for an answer of a route, as a check. */
function schemaOf(path: string, status: string, type: string): z.ZodType {
  // As a client reads it.
  const document = JSON.parse(JSON.stringify(openapiDocument())) as Document;
  const schema = document.paths[path]?.post.responses[status]?.content[type]?.schema;
  if (schema === undefined) throw new Error(`the document has no ${type} for ${status} of ${path}`);
  return z.fromJSONSchema(schema);
}
const problems = schemaOf("/renew/v1/evidence", "default", "application/problem+json");
const answers = new Map(
  ["/renew/v1/begin", "/renew/v1/evidence"].map((path) => [path, schemaOf(path, "200", "application/json")]),
);

/** Asserts that an answer is one that the OpenAPI document describes. */
export function expectDescribed(path: string, status: number, body: unknown): void {
  const schema = status === 200 ? answers.get(path) : problems;
  const read = schema?.safeParse(body);
  expect(read?.error?.issues, `${path} ${status}`).toBeUndefined();
  expect(read?.success).toBe(true);
}
