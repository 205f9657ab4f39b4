import { X509Certificate } from "node:crypto";

/** DER of a PEM text's first certificate. */
export function pemBytes(text: string): Uint8Array {
  return new Uint8Array(new X509Certificate(text).raw);
}
