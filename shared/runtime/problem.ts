import type { Context } from "hono";
import type { RefusalCode } from "../attest/verdict.ts";
import { isPortError, type PortError } from "../ports/error.ts";

/** HTTP status of each code of the device protocol; every code has one, by type (spec/10, "Codes"). */
const STATUS: Readonly<Record<RefusalCode | "internal", number>> = {
  "bad-request": 400,
  "session-expired": 401,
  "session-used": 401,
  unauthorized: 401,
  "tpm-1.2": 403,
  "unsupported-class": 403,
  "ak-attributes": 403,
  "ldevid-attributes": 403,
  "ek-template": 403,
  "activation-failed": 403,
  "quote-invalid": 403,
  "certify-invalid": 403,
  "confirm-invalid": 403,
  "renewal-signature-invalid": 403,
  "pcr-zero": 403,
  "boot-unverified": 403,
  "event-log-missing": 403,
  "event-log-malformed": 403,
  "event-log-mismatch": 403,
  "secure-boot-mismatch": 403,
  "validation-off": 403,
  "profile-missing": 403,
  "authority-not-accepted": 403,
  "not-hookos": 403,
  "identity-unknown": 403,
  quarantined: 403,
  "not-found": 404,
  "config-missing": 404,
  "unknown-serial": 409,
  "ambiguous-serial": 409,
  "not-expected": 409,
  "ek-not-approved": 409,
  "ek-missing": 409,
  "ek-not-pinned": 409,
  "inventory-conflict": 409,
  "uuid-conflict": 409,
  "mac-conflict": 409,
  "interface-ambiguous": 409,
  "switch-port-mismatch": 409,
  "disk-serial-missing": 409,
  "pin-incomplete": 409,
  "class-unknown": 409,
  "config-being-served": 409,
  "no-request": 409,
  "run-preparing": 409,
  slot: 409,
  protected: 409,
  "control-planes-off": 409,
  "name-invalid": 409,
  "disk-missing": 409,
  "request-held": 409,
  "identity-changed": 409,
  "not-planned": 409,
  "nothing-to-accept": 409,
  "method-not-allowed": 405,
  "code-consumed": 410,
  "length-required": 411,
  "too-large": 413,
  "rate-limited": 429,
  "inventory-unavailable": 503,
  "store-unavailable": 503,
  "boot-plane-unavailable": 503,
  "cluster-unavailable": 503,
  "signer-unavailable": 503,
  internal: 500,
};

export function statusOf(code: RefusalCode | "internal"): number {
  return STATUS[code];
}

/** Seconds after which another try may help; absent where waiting helps nothing. */
function retryAfterSeconds(code: RefusalCode | "internal", status: number): number | null {
  // What is not held now is not held later: a person asked for what there is not.
  if (code === "nothing-to-accept") return null;
  if (status === 409) return 30;
  if (status === 429) return 60;
  return status === 503 ? 10 : null;
}

/**
 * An RFC 9457 problem document: stable `code`, a `detail` that a person can act on, Retry-After where waiting helps.
 * @see spec/10-protocol.md
 */
export function problem(
  code: RefusalCode | "internal",
  detail: string,
  extra: Record<string, unknown> = {},
  retrySeconds: number | null = null,
): Response {
  const status = statusOf(code);
  const headers: Record<string, string> = { "content-type": "application/problem+json", "cache-control": "no-store" };
  const retry = retrySeconds ?? retryAfterSeconds(code, status);
  if (retry !== null) headers["retry-after"] = String(retry);
  return new Response(
    JSON.stringify({ type: `https://fleetd.dev/problems/${code}`, title: code, status, code, detail, ...extra }),
    { status, headers },
  );
}

/** The answer to another method on a route that there is. */
export function notAllowed(allow: "GET" | "POST"): () => Response {
  return () => {
    const answer = problem("method-not-allowed", `${allow} only`);
    answer.headers.set("allow", allow);
    return answer;
  };
}

const PORT_CODES: Readonly<Record<string, RefusalCode>> = {
  netbox: "inventory-unavailable",
  store: "store-unavailable",
  records: "boot-plane-unavailable",
  "boot-plane": "boot-plane-unavailable",
  cluster: "cluster-unavailable",
  signer: "signer-unavailable",
};

/** The 503 for an outside system that did not answer, by its port. */
export function codeOfPort(error: PortError): RefusalCode {
  return PORT_CODES[error.port] ?? "boot-plane-unavailable";
}

/** Turns what a handler threw into an answer; its own words go to the log, the caller gets a code. */
export function onError(error: Error, c: Context): Response {
  const log = c.get("log") as { error: (fields: object, text: string) => void } | undefined;
  log?.error({ path: c.req.path, error: error.message }, "request failed");
  if (isPortError(error)) return problem(codeOfPort(error), `${error.port} did not answer as it should; try again`);
  if (error.name === "FormatError") return problem("bad-request", error.message);
  return problem("internal", "fleetd failed; its log names the cause");
}
