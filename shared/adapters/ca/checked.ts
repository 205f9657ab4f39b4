import { verify } from "node:crypto";
import { sequence, unsignedInteger } from "../../formats/der-write.ts";
import { isPortError, PortError } from "../../ports/error.ts";
import type { SignerPort } from "../../ports/signer.ts";
import { HASHES, type Issuer, rejected, unavailable } from "./issuer.ts";

/** One signature of some back end over the bytes: DER, or r and s of one length each, or base64 of either. */
export type SignBytes = (bytes: Uint8Array) => Promise<Uint8Array>;

/** The key answered, and not with what the issuer's certificate verifies: at the start a person must mend that. */
export class ForeignSignature extends PortError {
  readonly detail: string;

  constructor(bytes: number) {
    const detail = `a signature of ${bytes} bytes is not one of the issuer's key over these bytes`;
    super("unavailable", "signer", detail);
    this.detail = detail;
  }
}

/** No TBSCertificate begins with this, so that its signature is good for nothing. */
const PROBE = new TextEncoder().encode("fleetd asks whether this key is its issuer's");

/**
 * A port that hands out only what the issuer's certificate verifies: a key that was swapped, a command that signs other
 * bytes, and a chip that miscounts give no certificate.
 */
export function checkedSigner(issuer: Issuer, sign: SignBytes, now: () => number = Date.now): SignerPort {
  return {
    chain: async () => issuer.chain,
    trusted: async () => issuer.trusted,
    algorithm: async () => issuer.algorithm,
    async sign(tbs) {
      if (now() >= issuer.notAfterMs) throw rejected("the issuer's certificate has expired");
      return signed(issuer, sign, tbs);
    },
  };
}

/**
 * Asks the key once at the start. What a person must mend is thrown; a key that does not answer now is told as words.
 * @throws PortError rejected
 */
export async function probeSigner(port: SignerPort): Promise<string | null> {
  try {
    await port.sign(PROBE);
    return null;
  } catch (error) {
    if (error instanceof ForeignSignature) throw rejected(error.detail);
    if (isPortError(error, "unavailable")) return error.message;
    throw error;
  }
}

async function signed(issuer: Issuer, sign: SignBytes, tbs: Uint8Array): Promise<Uint8Array> {
  const output = await outputOf(sign, tbs);
  const good = readings(output, issuer.algorithm !== "rsa-sha256").find((signature) =>
    verify(HASHES[issuer.algorithm], tbs, issuer.publicKey, signature),
  );
  if (good === undefined) throw new ForeignSignature(output.length);
  return good;
}

/** A full disk or no file handles are no fault of the caller's, nor of the key. */
async function outputOf(sign: SignBytes, tbs: Uint8Array): Promise<Uint8Array> {
  try {
    return await sign(tbs);
  } catch (error) {
    if (isPortError(error)) throw error;
    throw unavailable(error instanceof Error ? error.message : "no words");
  }
}

/** What the bytes may mean; the verification decides. */
function readings(output: Uint8Array, elliptic: boolean): Uint8Array[] {
  const text = new TextDecoder("latin1").decode(output).replace(/\s+/g, "");
  const base64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
  const bytes = base64 ? [output, Uint8Array.from(atob(text), (char) => char.charCodeAt(0))] : [output];
  return elliptic ? bytes.flatMap((one) => [one, ...joined(one)]) : bytes;
}

/** ECDSA-Sig-Value of r ‖ s, as PKCS#11 gives them. @see RFC 3279 section 2.2.3 */
function joined(raw: Uint8Array): Uint8Array[] {
  const half = raw.length / 2;
  if (half !== 32 && half !== 48) return [];
  return [sequence(unsignedInteger(raw.subarray(0, half)), unsignedInteger(raw.subarray(half)))];
}
