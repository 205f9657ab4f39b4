import { generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { LabAuthority } from "../../infra/lab/kubernetes/authority.ts";

/** A self-signed CA with its key, as an issuer or as the authority that signs what boots. */
export interface FakeAuthority {
  readonly pem: string;
  readonly der: Uint8Array;
  readonly keyPem: string;
  /** A server's certificate and key for 127.0.0.1. */
  serverIdentity(): { readonly certificate: string; readonly key: string };
}

/** Makes a root authority, and below it the CA whose key is given out; a world with a clock of its own dates them by it. */
export function fakeAuthority(commonName: string, clockMs?: () => number): FakeAuthority {
  const root = new LabAuthority(`${commonName} root`, clockMs);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = root.issue({ commonName, use: "authority" }, publicKey.export({ type: "spki", format: "der" }));
  return {
    pem: `${pem}${root.pem}`,
    der: new Uint8Array(new X509Certificate(pem).raw),
    keyPem: pemOf(privateKey),
    serverIdentity: () => root.serverIdentity(),
  };
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
