export type PortErrorKind = "unavailable" | "rejected" | "conflict" | "not-found";

/**
 * What went wrong at an outside system: `unavailable` (try later; the work may be done), `rejected` (a person must act),
 * `conflict` (read and decide again), `not-found`. Its message is fit for a log: it never holds a secret.
 */
export class PortError extends Error {
  readonly kind: PortErrorKind;
  readonly port: string;

  constructor(kind: PortErrorKind, port: string, detail: string) {
    super(`${port} ${kind}: ${detail}`);
    this.name = "PortError";
    this.kind = kind;
    this.port = port;
  }
}

/** Tells whether a thrown value is a PortError of one of the kinds. */
export function isPortError(error: unknown, ...kinds: PortErrorKind[]): error is PortError {
  return error instanceof PortError && (kinds.length === 0 || kinds.includes(error.kind));
}
