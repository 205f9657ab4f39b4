import { createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { readCertificate } from "../../formats/x509/certificate.ts";
import { readCertificatePems } from "../../formats/x509/pem.ts";
import { PortError } from "../../ports/error.ts";
import type { SignerPort } from "../../ports/signer.ts";

export type Algorithm = Awaited<ReturnType<SignerPort["algorithm"]>>;

export interface IssuerFiles {
  /** PEM of the issuer's certificate first, then of those that issued it. */
  readonly chainFile: string;
  /** PEM of further issuers whose certificates are accepted until their nodes renew. */
  readonly bundleFile?: string | undefined;
}

/** What is public of an issuer, read once and checked. */
export interface Issuer {
  readonly chain: readonly Uint8Array[];
  readonly trusted: readonly Uint8Array[];
  readonly algorithm: Algorithm;
  readonly publicKey: KeyObject;
  readonly notAfterMs: number;
}

const MIN_RSA_BITS = 2048;

export const HASHES: Readonly<Record<Algorithm, "sha256" | "sha384">> = {
  "ecdsa-sha256": "sha256",
  "ecdsa-sha384": "sha384",
  "rsa-sha256": "sha256",
};

/**
 * Reads the issuer's chain and the bundle of other accepted issuers.
 * @throws PortError rejected, naming file and position, where one of them is broken or no CA
 */
export async function loadIssuer(files: IssuerFiles): Promise<Issuer> {
  const chain = await readText(files.chainFile);
  return readIssuer(files, { chain, bundle: files.bundleFile === undefined ? null : await readText(files.bundleFile) });
}

/** The same from PEM texts at hand. @throws PortError rejected */
export function readIssuer(
  files: IssuerFiles,
  pem: { readonly chain: string; readonly bundle?: string | null },
): Issuer {
  const chain = readAuthorities(pem.chain, files.chainFile);
  for (const [at, certificate] of chain.entries()) {
    const above = chain[at + 1];
    if (above !== undefined && !(certificate.checkIssued(above) && certificate.verify(above.publicKey)))
      throw rejected(`${files.chainFile}: certificate ${at + 2} did not issue certificate ${at + 1}`);
  }
  const [issuer] = chain;
  if (issuer === undefined) throw rejected(`${files.chainFile}: no certificates in PEM`);
  const older = pem.bundle == null ? [] : readAuthorities(pem.bundle, files.bundleFile ?? "bundle");
  const trusted = [issuer, ...older.filter((one) => !one.raw.equals(issuer.raw))];
  return {
    chain: chain.map(derOf),
    trusted: trusted.map(derOf),
    algorithm: algorithmOf(issuer.publicKey, files.chainFile),
    publicKey: issuer.publicKey,
    // validToDate is undefined on workerd.
    notAfterMs: readCertificate(derOf(issuer)).notAfterMs,
  };
}

/** What a log says of an issuer: its subject and end. */
export function aboutIssuer(certificate: Uint8Array): { readonly subject: string; readonly notAfter: string } {
  const { subjectText, notAfterMs } = readCertificate(certificate);
  return { subject: subjectText, notAfter: new Date(notAfterMs).toISOString() };
}

/** Whether a private or public key is the issuer's. */
export function isKeyOf(issuer: Issuer, key: KeyObject): boolean {
  // X509Certificate.checkPrivateKey says no to every key on workerd; the public halves compare on both.
  const spki = (k: KeyObject) => k.export({ type: "spki", format: "der" });
  return spki(key.type === "private" ? createPublicKey(key) : key).equals(spki(issuer.publicKey));
}

/** The signature algorithm of a key. @throws PortError rejected for a key that no issuer has */
export function algorithmOf(key: KeyObject, path: string): Algorithm {
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "ec" && namedCurve === "prime256v1") return "ecdsa-sha256";
  if (key.asymmetricKeyType === "ec" && namedCurve === "secp384r1") return "ecdsa-sha384";
  if (key.asymmetricKeyType === "rsa" && (modulusLength ?? 0) >= MIN_RSA_BITS) return "rsa-sha256";
  throw rejected(`${path}: the key must be EC P-256, EC P-384 or RSA of at least ${MIN_RSA_BITS} bits`);
}

/** A file's text. @throws PortError rejected */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw rejected(`${path}: ${error instanceof Error && "code" in error ? error.code : "cannot be read"}`);
  }
}

export function rejected(detail: string): PortError {
  return new PortError("rejected", "signer", detail);
}

export function unavailable(detail: string): PortError {
  return new PortError("unavailable", "signer", detail);
}

function readAuthorities(pem: string, path: string): X509Certificate[] {
  const ders = readBlocks(pem, path);
  if (ders.length === 0) throw rejected(`${path}: no certificates in PEM`);
  return ders.map((der, at) => {
    const certificate = readOne(der, `${path}: certificate ${at + 1}`);
    if (!certificate.ca) throw rejected(`${path}: certificate ${at + 1} is no CA`);
    return certificate;
  });
}

// A block that was cut short or pasted together matches no PEM at all: counted, so that it is not left out in silence.
function readBlocks(pem: string, path: string): Uint8Array[] {
  const blocks = pem.split(/(?=-----BEGIN CERTIFICATE-----)/).filter((text) => text.includes("-----BEGIN CERTIFICATE"));
  return blocks.map((block, at) => {
    try {
      const [der] = readCertificatePems(block);
      if (der !== undefined) return der;
    } catch {
      // The same words for a block without an end and for one that is no base64.
    }
    throw rejected(`${path}: certificate ${at + 1} is broken`);
  });
}

function readOne(der: Uint8Array, where: string): X509Certificate {
  try {
    const certificate = new X509Certificate(der);
    // OpenSSL reads the first certificate and leaves what follows it.
    if (certificate.raw.length === der.length) return certificate;
  } catch {
    // The same words for bytes that are none and for bytes behind one.
  }
  throw rejected(`${where} is broken`);
}

function derOf(certificate: X509Certificate): Uint8Array {
  return new Uint8Array(certificate.raw);
}
