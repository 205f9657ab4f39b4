import { createPrivateKey, createPublicKey, type KeyObject, sign, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { readCertificatePems } from "../../formats/x509/pem.ts";
import { PortError } from "../../ports/error.ts";
import type { SignerPort } from "../../ports/signer.ts";

export interface KeyFileOptions {
  /** PEM of the private key (PKCS#8, SEC1 or PKCS#1, not encrypted): EC P-256, P-384, or RSA. */
  readonly keyFile: string;
  /** PEM of the issuer's certificate first, then of those that issued it. */
  readonly chainFile: string;
  /** Signatures waiting or running at once; one more is refused. */
  readonly maxQueue?: number;
}

type Algorithm = Awaited<ReturnType<SignerPort["algorithm"]>>;

const MAX_QUEUE = 64;
const MIN_RSA_BITS = 2048;
const hashes: Readonly<Record<Algorithm, "sha256" | "sha384">> = {
  "ecdsa-sha256": "sha256",
  "ecdsa-sha384": "sha384",
  "rsa-sha256": "sha256",
};

/**
 * An issuer whose key is a file: for tests and small fleets. Key and chain are read once and must belong together.
 * @throws PortError rejected when they do not, or cannot be used
 * @see spec/20-verification.md "Certificates issued"
 */
export async function createKeyFileSigner(options: KeyFileOptions): Promise<SignerPort> {
  return keySigner(options, { key: await readText(options.keyFile), chain: await readText(options.chainFile) });
}

/** The same from PEM texts at hand: on workerd they are bindings. */
export function keySigner(options: KeyFileOptions, pem: { readonly key: string; readonly chain: string }): SignerPort {
  const key = readKey(pem.key, options.keyFile);
  const chain = readChain(pem.chain, options.chainFile);
  const issuer = chain[0];
  if (issuer === undefined || !isKeyOf(issuer, key)) {
    throw rejected(`${options.chainFile}: its first certificate is not of the key in ${options.keyFile}`);
  }
  const algorithm = algorithmOf(key, options.keyFile);
  const ders = chain.map((certificate) => new Uint8Array(certificate.raw));
  const maxQueue = options.maxQueue ?? MAX_QUEUE;
  let pending = 0;
  return {
    chain: async () => ders,
    algorithm: async () => algorithm,
    async sign(tbs) {
      if (pending >= maxQueue) throw new PortError("unavailable", "signer", "the queue is full");
      pending++;
      try {
        return await signature(hashes[algorithm], tbs, key);
      } finally {
        pending--;
      }
    },
  };
}

// X509Certificate.checkPrivateKey says no to every key on workerd; the public halves compare on both.
function isKeyOf(certificate: X509Certificate, key: KeyObject): boolean {
  const spki = (k: KeyObject) => k.export({ type: "spki", format: "der" });
  return spki(createPublicKey(key)).equals(spki(certificate.publicKey));
}

function signature(hash: string, tbs: Uint8Array, key: KeyObject): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    sign(hash, tbs, key, (error, value) => {
      if (error === null) resolve(new Uint8Array(value));
      else reject(new PortError("unavailable", "signer", "the key did not sign"));
    });
  });
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw rejected(`${path}: ${error instanceof Error && "code" in error ? error.code : "cannot be read"}`);
  }
}

function readKey(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw rejected(`${path}: no private key in PEM that can be read without a passphrase`);
  }
}

function readChain(pem: string, path: string): X509Certificate[] {
  const chain = parseChain(pem, path);
  for (const [at, certificate] of chain.entries()) {
    if (at === 0 && !certificate.ca) throw rejected(`${path}: its first certificate is no CA`);
    const above = chain[at + 1];
    if (above !== undefined && !(certificate.checkIssued(above) && certificate.verify(above.publicKey))) {
      throw rejected(`${path}: certificate ${at + 2} did not issue certificate ${at + 1}`);
    }
  }
  return chain;
}

function parseChain(pem: string, path: string): X509Certificate[] {
  try {
    const chain = readCertificatePems(pem).map((der) => new X509Certificate(der));
    if (chain.length > 0) return chain;
  } catch {
    // The same words for no certificate and for a broken one.
  }
  throw rejected(`${path}: no certificates in PEM`);
}

function algorithmOf(key: KeyObject, path: string): Algorithm {
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "ec" && namedCurve === "prime256v1") return "ecdsa-sha256";
  if (key.asymmetricKeyType === "ec" && namedCurve === "secp384r1") return "ecdsa-sha384";
  if (key.asymmetricKeyType === "rsa" && (modulusLength ?? 0) >= MIN_RSA_BITS) return "rsa-sha256";
  throw rejected(`${path}: the key must be EC P-256, EC P-384 or RSA of at least ${MIN_RSA_BITS} bits`);
}

function rejected(detail: string): PortError {
  return new PortError("rejected", "signer", detail);
}
