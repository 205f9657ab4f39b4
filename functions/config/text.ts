import type { Context } from "hono";
import type { RefusalCode } from "../../shared/attest/verdict.ts";
import { problem, statusOf } from "../../shared/runtime/problem.ts";

/**
 * An answer other than 200 of the configuration routes: one line of text that begins with the code, since Talos shows
 * the first 32 bytes on its console; a problem document where the caller asks for one.
 * @see spec/40-config-access.md
 */
export function refuse(c: Context, code: RefusalCode | "internal", detail: string): Response {
  const document = problem(code, detail);
  if (c.req.header("accept")?.includes("application/problem+json")) return document;
  const headers = new Headers(document.headers);
  headers.set("content-type", "text/plain; charset=utf-8");
  return new Response(`${code}: ${detail}\n`, { status: statusOf(code), headers });
}
