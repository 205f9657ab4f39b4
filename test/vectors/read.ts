import { readFileSync } from "node:fs";

/** A vector's bytes, by its path in this folder. */
export function vector(path: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(path, import.meta.url)));
}

/** A vector's JSON, by its path in this folder. */
export function vectorJson<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as T;
}

/** A vector's text, by its path in this folder. */
export function vectorText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}

/** Bytes as hex, for comparison with what other tools print. */
export function hex(bytes: Uint8Array | null | undefined): string | null {
  return bytes ? Buffer.from(bytes).toString("hex") : null;
}
