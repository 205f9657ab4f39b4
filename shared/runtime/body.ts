import type { Context } from "hono";
import type { z } from "zod";
import { problem } from "./problem.ts";

/** Bounds of request bodies, in bytes (spec/10, head). */
export const EVIDENCE_BODY_BYTES = 2 * 1024 * 1024;
export const BODY_BYTES = 64 * 1024;

export type Body<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly response: Response };

/**
 * The raw body, bounded by content-length before a byte of it is read: 411 without one, 413 over the limit. (A counting
 * stream costs four times the CPU of a POST: facts/platform.md 5.)
 */
export async function readBytes(c: Context, maxBytes: number): Promise<Body<Uint8Array>> {
  const length = c.req.header("content-length");
  if (length === undefined || !/^\d{1,12}$/.test(length))
    return { ok: false, response: problem("length-required", "send the body with a Content-Length") };
  if (Number(length) > maxBytes)
    return { ok: false, response: problem("too-large", `the body is over ${maxBytes} bytes`) };
  return { ok: true, value: new Uint8Array(await c.req.arrayBuffer()) };
}

/**
 * Waits for the whole body, so that nothing scarce is held for a caller that sends none; a handler reads it again at no
 * price. Returns the answer to one that is too long or too late, else null.
 */
export async function bodyRefusal(c: Context, maxBytes: number, limitMs: number): Promise<Response | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), limitMs);
  });
  const read = readBytes(c, maxBytes);
  // A caller that goes away after its time is over: nobody waits for that any more.
  read.catch(() => undefined);
  const came = await Promise.race([read, late]).finally(() => clearTimeout(timer));
  if (came !== "late") return came.ok ? null : came.response;
  const answer = problem("bad-request", `the body did not come within ${limitMs} ms`, { field: "" });
  answer.headers.set("connection", "close");
  return answer;
}

/** A JSON body of a schema; a fault is 400 with the field's name. */
export async function readJson<S extends z.ZodType>(
  c: Context,
  schema: S,
  maxBytes: number,
): Promise<Body<z.output<S>>> {
  const raw = await readBytes(c, maxBytes);
  if (!raw.ok) return raw;
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw.value));
  } catch {
    return { ok: false, response: problem("bad-request", "the body is not JSON in UTF-8", { field: "" }) };
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issue = parsed.error.issues[0];
  const field = issue?.path.join(".") ?? "";
  return {
    ok: false,
    response: problem("bad-request", `${field || "body"}: ${issue?.message ?? "is wrong"}`, { field }),
  };
}
