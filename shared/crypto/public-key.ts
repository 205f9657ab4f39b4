import { createPublicKey, type KeyObject } from "node:crypto";

export type CurveName = "P-256" | "P-384" | "P-521";

export interface RsaPublicKey {
  readonly type: "rsa";
  readonly modulus: Uint8Array;
  readonly exponent: Uint8Array;
}

export interface EcPublicKey {
  readonly type: "ec";
  readonly curve: CurveName;
  readonly x: Uint8Array;
  readonly y: Uint8Array;
}

export type PublicKey = RsaPublicKey | EcPublicKey;

export const CURVE_BYTES: Readonly<Record<CurveName, number>> = { "P-256": 32, "P-384": 48, "P-521": 66 };

interface ImportedKey {
  readonly object: KeyObject;
  readonly pem: string;
}

// Importing costs as much as checking a signature.
const imported = new WeakMap<PublicKey, ImportedKey | null>();

/** A key for the platform, or null where it is none: a point that is not on its curve, a modulus that is no RSA one. */
export function importPublicKey(key: PublicKey): ImportedKey | null {
  const known = imported.get(key);
  if (known !== undefined) return known;
  const made = createKey(key);
  imported.set(key, made);
  return made;
}

// As PEM text: on Node it takes half the time of JWK or DER, and workerd reads padding options with no other form.
function createKey(key: PublicKey): ImportedKey | null {
  try {
    const pem =
      key.type === "rsa"
        ? pemOf("RSA PUBLIC KEY", derOf(0x30, derInteger(key.modulus), derInteger(key.exponent)))
        : pemOf("PUBLIC KEY", ecSpki(key));
    return { object: createPublicKey(pem), pem };
  } catch {
    return null;
  }
}

/** AlgorithmIdentifiers, DER: id-ecPublicKey with each curve. @see RFC 5480 section 2.1.1 */
const EC_ALGORITHMS: Readonly<Record<CurveName, Uint8Array>> = {
  "P-256": Buffer.from("301306072a8648ce3d020106082a8648ce3d030107", "hex"),
  "P-384": Buffer.from("301006072a8648ce3d020106052b81040022", "hex"),
  "P-521": Buffer.from("301006072a8648ce3d020106052b81040023", "hex"),
};
const UNCOMPRESSED = Uint8Array.of(0, 4);
const ZERO = Uint8Array.of(0);
const EMPTY = new Uint8Array(0);

function ecSpki(key: EcPublicKey): Uint8Array {
  const size = CURVE_BYTES[key.curve];
  const point = derOf(0x03, UNCOMPRESSED, leftPad(key.x, size), leftPad(key.y, size));
  return derOf(0x30, EC_ALGORITHMS[key.curve], point);
}

function pemOf(label: string, der: Uint8Array): string {
  const text = Buffer.from(der.buffer, der.byteOffset, der.length).toString("base64");
  let lines = "";
  for (let i = 0; i < text.length; i += 64) lines += `${text.slice(i, i + 64)}\n`;
  return `-----BEGIN ${label}-----\n${lines}-----END ${label}-----\n`;
}

/** One DER element around its parts, of at most 65,535 bytes. */
export function derOf(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const head = length < 0x80 ? 2 : length < 0x100 ? 3 : 4;
  const out = new Uint8Array(head + length);
  out[0] = tag;
  if (head > 2) out[1] = 0x80 + head - 2;
  if (head > 3) out[2] = length >> 8;
  out[head - 1] = length & 0xff;
  let at = head;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** A positive INTEGER, without needless zeros. */
export function derInteger(value: Uint8Array): Uint8Array {
  let first = 0;
  while (first < value.length - 1 && value[first] === 0) first++;
  const digits = value.length === 0 ? ZERO : value.subarray(first);
  return derOf(0x02, (digits[0] ?? 0) >= 0x80 ? ZERO : EMPTY, digits);
}

/** Whether the key can be used at all. */
export function isUsableKey(key: PublicKey): boolean {
  return importPublicKey(key) !== null;
}

/** The same number in `size` bytes: TPMs leave leading zeros out. A longer value is returned as it is. */
export function leftPad(value: Uint8Array, size: number): Uint8Array {
  if (value.length >= size) return value;
  const padded = new Uint8Array(size);
  padded.set(value, size - value.length);
  return padded;
}
