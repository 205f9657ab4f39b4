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
    const pem = pemOf(key.type === "rsa" ? rsaSpki(key) : ecSpki(key));
    return { object: createPublicKey(pem), pem };
  } catch {
    return null;
  }
}

/** AlgorithmIdentifiers, DER: rsaEncryption with NULL, id-ecPublicKey with each curve. @see RFC 3279, RFC 5480 */
const RSA_ENCRYPTION = [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
const EC_PUBLIC_KEY = [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const CURVES: Readonly<Record<CurveName, readonly number[]>> = {
  "P-256": [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
  "P-384": [0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22],
  "P-521": [0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23],
};

function rsaSpki(key: RsaPublicKey): Uint8Array {
  const numbers = derOf(0x30, derInteger(key.modulus), derInteger(key.exponent));
  return derOf(0x30, Uint8Array.from(RSA_ENCRYPTION), derOf(0x03, Uint8Array.of(0), numbers));
}

function ecSpki(key: EcPublicKey): Uint8Array {
  const size = CURVE_BYTES[key.curve];
  const algorithm = derOf(0x30, Uint8Array.from([...EC_PUBLIC_KEY, ...CURVES[key.curve]]));
  const point = derOf(0x03, Uint8Array.of(0, 4), leftPad(key.x, size), leftPad(key.y, size));
  return derOf(0x30, algorithm, point);
}

function pemOf(spki: Uint8Array): string {
  const lines = Buffer.from(spki).toString("base64").replace(/.{64}/g, "$&\n");
  return `-----BEGIN PUBLIC KEY-----\n${lines}\n-----END PUBLIC KEY-----\n`;
}

/** One DER element around its parts, of at most 65,535 bytes. */
export function derOf(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Uint8Array.from([tag, ...size]), ...parts]);
}

/** A positive INTEGER, without needless zeros. */
export function derInteger(value: Uint8Array): Uint8Array {
  const first = value.findIndex((octet) => octet !== 0);
  const digits = first < 0 ? Uint8Array.of(0) : value.subarray(first);
  return derOf(0x02, ...((digits[0] ?? 0) >= 0x80 ? [Uint8Array.of(0)] : []), digits);
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
