import { createCipheriv, createDecipheriv } from "node:crypto";

const TAG_BYTES = 16;

export interface AeadInput {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  readonly associatedData: Uint8Array;
}

/** AES-256-GCM: the ciphertext with its tag behind it. */
export function aesGcmSeal(input: AeadInput, plaintext: Uint8Array): Uint8Array {
  const cipher = createCipheriv("aes-256-gcm", input.key, input.nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(input.associatedData);
  return new Uint8Array(Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]));
}

/** The plaintext, or null when a byte of it, of its key or of its associated data is another. */
export function aesGcmOpen(input: AeadInput, sealed: Uint8Array): Uint8Array | null {
  if (sealed.length < TAG_BYTES) return null;
  const decipher = createDecipheriv("aes-256-gcm", input.key, input.nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(input.associatedData);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const plaintext = decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES));
  try {
    return new Uint8Array(Buffer.concat([plaintext, decipher.final()]));
  } catch {
    return null;
  }
}
