import { z } from "zod";
import { REFUSAL_CODES } from "../shared/attest/verdict.ts";
import { verdictShape } from "../shared/runtime/wire-schema.ts";
import { acceptRequest, acceptResponse } from "./accept/schema.ts";
import { adoptRequest, adoptResponse } from "./adopt/schema.ts";
import * as attest from "./attest/schema.ts";
import * as lookup from "./lookup/schema.ts";
import { planResponse, plansResponse } from "./plan/schema.ts";
import { reconcileRequest, reconcileResponse } from "./reconcile/schema.ts";
import * as renew from "./renew/schema.ts";

/** Open: a member that is added later breaks no client. */
const problemDocument = z.looseObject({
  type: z.url(),
  title: z.string(),
  status: z.int().min(400).max(599),
  code: z.enum([...REFUSAL_CODES, "internal"]),
  detail: z.string(),
  /** Of a 400: the member of the request that is wrong; empty for the body as a whole. */
  field: z.string().optional(),
  /** Where evidence was looked at: what was seen, and what had to be there. */
  verdict: verdictShape.optional(),
});

const json = (schema: z.ZodType) => ({
  content: { "application/json": { schema: z.toJSONSchema(schema, { io: "input" }) } },
});
const problems = {
  description: "A problem document with a stable code; Retry-After where waiting helps.",
  content: { "application/problem+json": { schema: z.toJSONSchema(problemDocument, { io: "input" }) } },
};
const read = (summary: string, response: z.ZodType) => ({
  get: { summary, responses: { "200": { description: "As asked.", ...json(response) }, default: problems } },
});
const route = (summary: string, request: z.ZodType, response: z.ZodType) => ({
  post: {
    summary,
    requestBody: { required: true, ...json(request) },
    responses: {
      "200": { description: "As asked.", ...json(response) },
      default: problems,
    },
  },
});

const NAME = { name: "name", in: "path", required: true, schema: { type: "string" } };

/** The OpenAPI document of the protocol's routes and of what fleetctl asks, made from the schemas that the handlers read by. */
export function openapiDocument(): unknown {
  return {
    openapi: "3.1.0",
    info: { title: "fleetd device protocol", version: "1" },
    paths: {
      "/attest/v1/begin": route(
        "Device listener. EKs and key areas in; credentials and a nonce out.",
        attest.beginRequest,
        attest.beginResponse,
      ),
      "/attest/v1/evidence": route(
        "Device listener. Secrets, quote, event log and report in; verdict and certificates out.",
        attest.evidenceRequest,
        attest.evidenceResponse,
      ),
      "/attest/v1/confirm": route(
        "Device listener. The LDevID key's signature in; admission out.",
        attest.confirmRequest,
        attest.confirmResponse,
      ),
      "/renew/v1/begin": route(
        "Admin listener, no credential. The recorded certificates in; a nonce out.",
        renew.beginRequest,
        renew.beginResponse,
      ),
      "/renew/v1/evidence": route(
        "Admin listener, no credential. Quote, event log, report, new LDevID key and the old one's signature in; verdict and certificates out.",
        renew.evidenceRequest,
        renew.evidenceResponse,
      ),
      "/devices": read("Admin listener, authenticated. Every device with what it waits for.", lookup.devicesResponse),
      "/devices/{name}": {
        parameters: [NAME],
        ...read("Admin listener, authenticated. One device, also one that vanished.", lookup.deviceResponse),
      },
      "/claims": read("Admin listener, authenticated. What unknown machines and keys claim.", lookup.claimsResponse),
      "/spire-nodes.json": read(
        "Admin listener, authenticated. The nodes that SPIRE may know.",
        lookup.spireNodesResponse,
      ),
      "/reconcile": route(
        "Admin listener, authenticated. A pass over the fleet, or for one device; answers when it has ended.",
        reconcileRequest,
        reconcileResponse,
      ),
      "/devices/{name}/adopt": {
        parameters: [NAME],
        ...route(
          "Admin listener, authenticated. A running node's certificates in; they are its recorded identity.",
          adoptRequest,
          adoptResponse,
        ),
      },
      "/accept": route(
        "Admin listener, authenticated. Accepts a device's held request, or what many devices did at once.",
        acceptRequest,
        acceptResponse,
      ),
      "/plan": read("Admin listener, authenticated. What the next pass would do; nothing is done.", plansResponse),
      "/plan/{name}": {
        parameters: [NAME],
        ...read("Admin listener, authenticated. What the next pass would do with one device.", planResponse),
      },
    },
  };
}
