import { createReadStream } from "node:fs";
import { fromBase64 } from "../../shared/attest/hex.ts";

/** Evidence is bounded to 2 MiB on the wire; a bundle of it in base64, and any real event log, is well below this. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A file's bytes (`-` is stdin), or why there are none. Pipes and devices say nothing of their size: the bytes are counted. */
export async function readInput(path: string): Promise<Uint8Array | string> {
  const source: AsyncIterable<Uint8Array> = path === "-" ? process.stdin : createReadStream(path);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > MAX_BYTES) return `more than the ${MAX_BYTES} bytes that are read`;
      chunks.push(chunk);
    }
    return new Uint8Array(Buffer.concat(chunks));
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    return error.code === "ENOENT" ? "no such file" : `cannot be read (${String(error.code)})`;
  }
}

/** A JSON file's value, or why there is none. */
export async function readJsonInput(path: string): Promise<{ readonly value: unknown } | string> {
  const bytes = await readInput(path);
  return typeof bytes === "string" ? bytes : parseJson(bytes);
}

/**
 * The event log in a file: the firmware's bytes, or an evidence bundle that holds them. A log begins with its first
 * record's PCR index, so no log begins with a brace.
 */
export async function readLogInput(path: string): Promise<Uint8Array | string> {
  const bytes = await readInput(path);
  if (typeof bytes === "string" || bytes[0] !== "{".charCodeAt(0)) return bytes;
  const json = parseJson(bytes);
  if (typeof json === "string") return json;
  const { value } = json;
  const log = typeof value === "object" && value !== null && "eventLog" in value ? value.eventLog : undefined;
  if (typeof log !== "string") return "an object without an eventLog";
  return fromBase64(log) ?? "an eventLog that is no base64";
}

function parseJson(bytes: Uint8Array): { readonly value: unknown } | string {
  try {
    return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch {
    return "no JSON";
  }
}
