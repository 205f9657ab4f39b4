import { type ClientHttp2Session, connect } from "node:http2";

/** An answer of a gRPC server that is no success. */
export class GrpcError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const CODES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
];
const PREFIX_BYTES = 5;

/**
 * Unary gRPC calls over plaintext HTTP/2. Two calls need no gRPC library: a message behind five bytes of prefix, and a
 * status in the trailers.
 */
export class GrpcClient {
  readonly #url: string;
  #session: ClientHttp2Session | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  /** @throws GrpcError for a status other than OK, UNAVAILABLE where no answer came */
  call(path: string, message: Buffer, signal?: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const stream = this.#open().request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
      });
      const chunks: Buffer[] = [];
      let status = "";
      let words = "";
      // Without a message the status comes in the headers themselves.
      const note = (headers: Readonly<Record<string, unknown>>) => {
        status = String(headers["grpc-status"] ?? status);
        words = String(headers["grpc-message"] ?? words);
      };
      const cancel = () => stream.close();
      signal?.addEventListener("abort", cancel, { once: true });
      stream.on("response", note).on("trailers", note);
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("error", (error) => reject(new GrpcError("UNAVAILABLE", error.message)));
      stream.on("close", () => {
        signal?.removeEventListener("abort", cancel);
        const whole = Buffer.concat(chunks);
        if (status === "0" && whole.length >= PREFIX_BYTES) resolve(whole.subarray(PREFIX_BYTES));
        else if (status === "") reject(new GrpcError("UNAVAILABLE", "no answer"));
        else reject(new GrpcError(CODES[Number(status)] ?? "UNKNOWN", decodeURIComponent(words)));
      });
      const prefix = Buffer.alloc(PREFIX_BYTES);
      prefix.writeUInt32BE(message.length, 1);
      stream.end(Buffer.concat([prefix, message]));
    });
  }

  close(): void {
    this.#session?.destroy();
    this.#session = null;
  }

  #open(): ClientHttp2Session {
    if (this.#session === null || this.#session.destroyed || this.#session.closed) {
      this.#session = connect(this.#url);
      // Each call tells its own failure.
      this.#session.on("error", () => undefined);
    }
    return this.#session;
  }
}
