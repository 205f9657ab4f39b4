import { constants, publicEncrypt } from "node:crypto";
import type { HashName } from "./hash.ts";
import { importPublicKey, type RsaPublicKey } from "./public-key.ts";

/**
 * RSAES-OAEP with a TPM label: the label's terminating NUL belongs to it.
 * @throws RangeError when the key is none
 * @see TPM 2.0 Library Part 1, B.4
 */
export function oaepEncrypt(key: RsaPublicKey, hash: HashName, label: string, data: Uint8Array): Uint8Array {
  const imported = importPublicKey(key);
  if (!imported) throw new RangeError("not an RSA key");
  const oaepLabel = new TextEncoder().encode(`${label}\0`);
  return new Uint8Array(
    publicEncrypt({ key: imported.pem, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash, oaepLabel }, data),
  );
}
