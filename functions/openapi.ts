import { z } from "zod";
import {
  beginRequest,
  beginResponse,
  confirmRequest,
  confirmResponse,
  evidenceRequest,
  evidenceResponse,
} from "./attest/schema.ts";

const problemDocument = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string(),
});

const json = (schema: z.ZodType) => ({
  content: { "application/json": { schema: z.toJSONSchema(schema, { io: "input" }) } },
});
const route = (summary: string, request: z.ZodType, response: z.ZodType) => ({
  post: {
    summary,
    requestBody: { required: true, ...json(request) },
    responses: {
      "200": { description: "As asked.", ...json(response) },
      default: {
        description: "A problem document with a stable code; Retry-After where waiting helps.",
        content: { "application/problem+json": { schema: z.toJSONSchema(problemDocument) } },
      },
    },
  },
});

/** The OpenAPI document of the device protocol, made from the schemas that the handlers read by. */
export function openapiDocument(): unknown {
  return {
    openapi: "3.1.0",
    info: { title: "fleetd device protocol", version: "1" },
    paths: {
      "/attest/v1/begin": route("EKs and key areas in; credentials and a nonce out.", beginRequest, beginResponse),
      "/attest/v1/evidence": route(
        "Secrets, quote, event log and report in; verdict and certificates out.",
        evidenceRequest,
        evidenceResponse,
      ),
      "/attest/v1/confirm": route("The LDevID key's signature in; admission out.", confirmRequest, confirmResponse),
    },
  };
}
