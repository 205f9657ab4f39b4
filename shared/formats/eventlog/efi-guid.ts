import { bytes } from "../codec.ts";
import { FormatError } from "../error.ts";

/** EFI_GUID as it lies in memory: the first three fields little endian. */
export const EFI_GUID = bytes(16);

const ORDER = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

export const GUID = {
  EFI_GLOBAL_VARIABLE: "8be4df61-93ca-11d2-aa0d-00e098032b8c",
  EFI_IMAGE_SECURITY_DATABASE: "d719b2cb-3d3a-4596-a3bc-dad00e67656f",
  SHIM_LOCK: "605dab50-e046-4300-abb6-3dd810dd8b23",
  EFI_CERT_X509: "a5c059a1-94e4-4aa7-87b5-ab155c2bf072",
} as const;

/** A GUID as its text, lower case. */
export function guidText(guid: Uint8Array): string {
  const hex = Buffer.from(ORDER.map((i) => guid[i] ?? 0)).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/**
 * The bytes of a GUID's text.
 * @throws FormatError
 */
export function guidBytes(text: string): Uint8Array {
  const hex = text.replaceAll("-", "");
  if (!/^[0-9a-f]{32}$/.test(hex)) throw new FormatError("unknown-value", "EFI_GUID", 0, text);
  const guid = new Uint8Array(16);
  for (const [i, position] of ORDER.entries()) guid[position] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return guid;
}
