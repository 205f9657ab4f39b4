import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { SignerPort } from "../../ports/signer.ts";
import { checkedSigner } from "./checked.ts";
import { HASHES, type IssuerFiles, isKeyOf, readIssuer, readText, rejected, unavailable } from "./issuer.ts";
import { type QueueOptions, queued, UNQUEUED } from "./queue.ts";

export interface KeyFileOptions extends IssuerFiles {
  /** PEM of the private key (PKCS#8, SEC1 or PKCS#1, not encrypted): EC P-256, P-384, or RSA. */
  readonly keyFile: string;
  readonly queue?: QueueOptions;
}

/**
 * An issuer whose key is a file: for tests and small fleets. Key and chain are read once and must belong together.
 * @throws PortError rejected when they do not, or cannot be used
 * @see spec/20-verification.md "Certificates issued"
 */
export async function createKeyFileSigner(options: KeyFileOptions): Promise<SignerPort> {
  const [key, chain] = [await readText(options.keyFile), await readText(options.chainFile)];
  const bundle = options.bundleFile === undefined ? null : await readText(options.bundleFile);
  return keySigner(options, { key, chain, bundle });
}

/** The same from PEM texts at hand: on workerd they are bindings. @throws PortError rejected */
export function keySigner(
  options: KeyFileOptions,
  pem: { readonly key: string; readonly chain: string; readonly bundle?: string | null },
): SignerPort {
  const key = readKey(pem.key, options.keyFile);
  const issuer = readIssuer(options, pem);
  if (!isKeyOf(issuer, key))
    throw rejected(`${options.chainFile}: its first certificate is not of the key in ${options.keyFile}`);
  const hash = HASHES[issuer.algorithm];
  return queued(
    checkedSigner(issuer, (bytes) => signature(hash, bytes, key)),
    options.queue ?? UNQUEUED,
  );
}

function signature(hash: string, tbs: Uint8Array, key: KeyObject): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    sign(hash, tbs, key, (error, value) => {
      if (error === null) resolve(new Uint8Array(value));
      else reject(unavailable("the key did not sign"));
    });
  });
}

function readKey(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw rejected(`${path}: no private key in PEM that can be read without a passphrase`);
  }
}
