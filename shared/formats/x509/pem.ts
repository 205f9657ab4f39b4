import { FormatError } from "../error.ts";

/** A certificate as PEM text. @see RFC 7468 section 5 */
export function certificatePem(der: Uint8Array): string {
  let binary = "";
  for (const octet of der) binary += String.fromCharCode(octet);
  const lines = btoa(binary).match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/**
 * Every certificate of a PEM text, in order; text around them is left out.
 * @throws FormatError when a block is no base64
 */
export function readCertificatePems(text: string): Uint8Array[] {
  const blocks = text.matchAll(/-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g);
  return Array.from(blocks, ([, body = ""]) => {
    const base64 = body.replace(/\s+/g, "");
    if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
      throw new FormatError("unknown-value", "PEM", 0, "no base64");
    }
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  });
}
