import { createHash, createHmac, timingSafeEqual, X509Certificate } from "node:crypto";
import type { Context } from "hono";

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Compares a bearer token with the configured one by hash, in constant time. */
export function bearerFits(header: string | undefined, token: string | null): boolean {
  const sent = /^Bearer ([\x21-\x7e]{1,512})$/.exec(header ?? "")?.[1];
  return token !== null && sent !== undefined && timingSafeEqual(sha256(sent), sha256(token));
}

/** True where the TLS layer verified a client certificate of FLEET_ADMIN_CA. */
export function clientCertificateFits(c: Context): boolean {
  const env = c.env as { incoming?: { socket?: { authorized?: boolean } } } | undefined;
  return env?.incoming?.socket?.authorized === true;
}

interface TlsPeer {
  readonly authorized?: boolean;
  readonly getPeerCertificate?: () => { readonly subject?: { readonly CN?: string | string[] } };
}

/** Who calls the admin listener, for journal lines: the client certificate's CN, or "token". */
export function callerName(c: Context): string {
  const socket = (c.env as { incoming?: { socket?: TlsPeer } } | undefined)?.incoming?.socket;
  if (socket?.authorized !== true) return "token";
  const name = [socket.getPeerCertificate?.().subject?.CN ?? ""].flat().join(" ");
  const shown = name
    .replace(/[^\x20-\x7e]/g, "?")
    .slice(0, 64)
    .trim();
  return shown === "" ? "a client certificate without a CN" : shown;
}

/** NetBox's X-Hook-Signature: HMAC-SHA512 over the raw body, lower-case hex (facts/netbox.md). */
export function hookSignatureFits(body: Uint8Array, header: string | undefined, secret: string): boolean {
  if (header === undefined || !/^[0-9a-f]{128}$/.test(header)) return false;
  return timingSafeEqual(createHmac("sha512", secret).update(body).digest(), Buffer.from(header, "hex"));
}

function certificates(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** Why the admin CA may not be used: it is the device CA, or it issued it. Null where it may. */
export function adminCaFault(adminCaPem: string, deviceChainPem: string): string | null {
  const device = certificates(deviceChainPem);
  const admins = certificates(adminCaPem);
  // Without one, TLS would trust nobody, or on another version everybody that a public root vouches for.
  if (admins.length === 0) return "it holds no certificate";
  if (device.length === 0) return "the device CA's chain holds no certificate to compare it with";
  for (const admin of admins)
    for (const d of device) {
      const sameKey = admin.publicKey.equals(d.publicKey);
      if (sameKey || d.verify(admin.publicKey))
        return "it is, or issued, the device CA: every LDevID would be an administrator";
    }
  return null;
}
