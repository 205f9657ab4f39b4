const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const CODE_CHARACTERS = 26;

/** The random bytes that one install code takes. */
export const CODE_RANDOM_BYTES = 17;

/**
 * An install code: 26 characters of base32, 130 random bits.
 * @throws RangeError when there is too little randomness
 * @see RFC 4648 section 6
 */
export function installCode(random: Uint8Array): string {
  if (random.length < CODE_RANDOM_BYTES) throw new RangeError(`${CODE_RANDOM_BYTES} random bytes wanted`);
  let code = "";
  let held = 0;
  let bits = 0;
  for (const octet of random) {
    held = (held << 8) | octet;
    bits += 8;
    while (bits >= 5 && code.length < CODE_CHARACTERS) {
      bits -= 5;
      code += ALPHABET.charAt((held >> bits) & 31);
    }
    held &= (1 << bits) - 1;
    if (code.length === CODE_CHARACTERS) break;
  }
  return code;
}

/** Whether a text has the shape of an install code at all. */
export function isCodeShaped(text: string): boolean {
  return /^[A-Z2-7]{26}$/.test(text);
}
