import { cfb } from "@noble/ciphers/aes.js";

/** AES-CFB128 with a zero IV, as a TPM wraps a credential; workerd's node:crypto has no CFB. */
export function aesCfbEncrypt(key: Uint8Array, plaintext: Uint8Array): Uint8Array {
  return cfb(key, new Uint8Array(16)).encrypt(plaintext);
}
