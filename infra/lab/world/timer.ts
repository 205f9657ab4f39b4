import { readFileSync } from "node:fs";
import { request } from "node:https";
import type { LabPaths } from "./paths.ts";

/** One call of fleetd's admin listener with the lab's CA and token. */
export async function callAdmin(
  paths: LabPaths,
  url: string,
  token: string,
  method = "GET",
  body?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    };
    const call = request(url, { method, headers, ca: readFileSync(paths.tls.ca), timeout: 60_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    call.on("timeout", () => call.destroy(new Error("timeout")));
    call.on("error", reject);
    call.end(body);
  });
}

/** Stands in for the systemd timer: asks for a pass each interval. Returns how to end it. */
export function startTimer(paths: LabPaths, adminUrl: string, token: string, everyMs: number): () => Promise<void> {
  let ended = false;
  let running: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    if (ended) return;
    running = callAdmin(paths, `${adminUrl}/reconcile`, token, "POST", "{}")
      .catch(() => undefined)
      .then(() => {
        if (!ended) timer = setTimeout(tick, everyMs);
      });
  };
  tick();
  return async () => {
    ended = true;
    clearTimeout(timer);
    await running;
  };
}
