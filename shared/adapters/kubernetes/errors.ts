import { PortError, type PortErrorKind } from "../../ports/error.ts";
import { listAt, textAt } from "./json.ts";

/** An answer of the API server that is no success, with its Status object where it sent one. */
export class StatusError extends PortError {
  readonly status: number;
  readonly body: unknown;

  constructor(kind: PortErrorKind, port: string, detail: string, status: number, body: unknown) {
    super(kind, port, detail);
    this.status = status;
    this.body = body;
  }
}

/** Makes the error of an unsuccessful answer; `quiet` leaves the server's words out, which may repeat what was sent. */
export function statusError(port: string, call: string, status: number, body: unknown, quiet: boolean): StatusError {
  const words = quiet ? textAt(body, "reason") : textAt(body, "message").slice(0, 500);
  return new StatusError(
    kindOf(status, body),
    port,
    `${call}: ${status}${words === "" ? "" : ` ${words}`}`,
    status,
    body,
  );
}

/** Makes the error of a call that got no whole answer: the work may be done. */
export function noAnswer(port: string, call: string, cause: unknown): PortError {
  const name = cause instanceof Error ? cause.name : "";
  const code = textAt(cause, "cause", "code") || textAt(cause, "code") || name || "failed";
  return new PortError("unavailable", port, `${call}: ${name === "TimeoutError" ? "timeout" : code}`);
}

function kindOf(status: number, body: unknown): PortErrorKind {
  if (status === 404) return "not-found";
  if (status === 409) return "conflict";
  if (status === 408 || status === 410 || status === 429 || status >= 500) return "unavailable";
  // A patch whose UID is another object's: the server answers that a UID can't be changed.
  const fields = listAt(body, "details", "causes").map((cause) => textAt(cause, "field"));
  return status === 422 && fields.includes("metadata.uid") ? "conflict" : "rejected";
}
