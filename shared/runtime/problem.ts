import type { Context } from "hono";
import type { RefusalCode } from "../attest/verdict.ts";
import { isPortError, type PortError } from "../ports/error.ts";

/** HTTP status of each code of the device protocol (spec/10, "Codes"); what is not listed is 403. */
const STATUS: Partial<Record<RefusalCode | "internal", number>> = {
  "bad-request": 400,
  "session-expired": 401,
  "session-used": 401,
  unauthorized: 401,
  "not-found": 404,
  "config-missing": 404,
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

const WAITS: ReadonlySet<string> = new Set<RefusalCode>([
  "unknown-serial",
  "ambiguous-serial",
  "not-expected",
  "ek-not-approved",
  "ek-missing",
  "ek-not-pinned",
  "inventory-conflict",
  "uuid-conflict",
  "mac-conflict",
  "interface-ambiguous",
  "switch-port-mismatch",
  "disk-serial-missing",
  "pin-incomplete",
  "class-unknown",
  "config-being-served",
  "no-request",
  "run-preparing",
  "slot",
  "protected",
  "control-planes-off",
  "name-invalid",
  "disk-missing",
  "request-held",
  "identity-changed",
  "not-planned",
]);

export function statusOf(code: RefusalCode | "internal"): number {
  return WAITS.has(code) ? 409 : (STATUS[code] ?? 403);
}

/** Seconds after which another try may help; absent where waiting helps nothing. */
function retryAfterSeconds(status: number): number | null {
  if (status === 409) return 30;
  if (status === 429) return 60;
  return status === 503 ? 10 : null;
}

/**
 * An RFC 9457 problem document: stable `code`, a `detail` that a person can act on, Retry-After where waiting helps.
 * @see spec/10-protocol.md
 */
export function problem(code: RefusalCode | "internal", detail: string, extra: Record<string, unknown> = {}): Response {
  const status = statusOf(code);
  const headers: Record<string, string> = { "content-type": "application/problem+json", "cache-control": "no-store" };
  const retry = retryAfterSeconds(status);
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
