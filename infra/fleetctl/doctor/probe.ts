import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { TLSSocket } from "node:tls";

/** What an HTTP server tells anybody who asks. */
export interface Probe {
  readonly status: number;
  /** The server's clock less this machine's, to a second; null where it tells no Date. */
  readonly aheadMs: number | null;
  /** null without TLS. */
  readonly tls: { readonly validToMs: number; readonly fault: string | null } | null;
}

/** GET without a credential. @throws Error where nobody answers in time */
export function probe(url: string, ca: string | undefined, timeoutMs: number): Promise<Probe> {
  return new Promise((resolve, reject) => {
    const secure = url.startsWith("https:");
    const sentMs = Date.now();
    // A certificate that does not fit is told of, not died of: no credential goes over this connection.
    const options = { ...(secure && { ca, rejectUnauthorized: false }), agent: false };
    const asked = (secure ? httpsRequest : httpRequest)(url, options, (response) => {
      const dateMs = Date.parse(response.headers.date ?? "");
      // A Date is the second that has begun.
      const aheadMs = dateMs + 500 - (sentMs + Date.now()) / 2;
      resolve({
        status: response.statusCode ?? 0,
        aheadMs: Number.isNaN(dateMs) ? null : aheadMs,
        tls: secure ? tlsOf(response.socket as TLSSocket) : null,
      });
      // The headers say all. A body may be without end.
      response.destroy();
    });
    const late = setTimeout(() => asked.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    asked.on("close", () => clearTimeout(late));
    asked.on("error", reject);
    asked.end();
  });
}

function tlsOf(socket: TLSSocket): Probe["tls"] {
  const fault = socket.authorized ? null : String(socket.authorizationError ?? "not trusted");
  return { validToMs: Date.parse(socket.getPeerCertificate().valid_to), fault };
}
