import { fromBase64 } from "./hex.ts";

/** Bytes of a base64 text that a schema or our own token vouches for. */
export const bytes = (text: string): Uint8Array => fromBase64(text) ?? new Uint8Array(0);
