import { type RequestOptions, request } from "node:https";

/** An answer, its body parsed where it is JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly text: string;
}

const TIMEOUT_MS = 120_000;

/**
 * POST of JSON over HTTPS, with one CA alone trusted.
 * @throws Error where no answer comes
 */
export function postJson(url: string, body: unknown, ca: string, signal: AbortSignal): Promise<Answer> {
  const text = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) };
  return call(url, { method: "POST", headers, ca, signal, timeout: TIMEOUT_MS }, text);
}

/**
 * GET over HTTPS, with one CA alone trusted.
 * @throws Error where no answer comes
 */
export function get(url: string, ca: string, signal: AbortSignal): Promise<Answer> {
  return call(url, { method: "GET", ca, signal, timeout: TIMEOUT_MS }, "");
}

function call(url: string, options: RequestOptions, text: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { ...options, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => {
        const received = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, body: parsed(received), text: received });
      });
    });
    asked.once("timeout", () => asked.destroy(new Error("no answer in time")));
    asked.once("error", reject);
    asked.end(text);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
