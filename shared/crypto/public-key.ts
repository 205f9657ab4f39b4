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

/** A key for the platform, or null where it is none: a point that is not on its curve, a modulus that is no RSA one. */
export function importPublicKey(key: PublicKey): KeyObject | null {
  try {
    if (key.type === "rsa") {
      return createPublicKey({
        key: { kty: "RSA", n: base64url(key.modulus), e: base64url(key.exponent) },
        format: "jwk",
      });
    }
    const size = CURVE_BYTES[key.curve];
    const x = base64url(leftPad(key.x, size));
    const y = base64url(leftPad(key.y, size));
    return createPublicKey({ key: { kty: "EC", crv: key.curve, x, y }, format: "jwk" });
  } catch {
    return null;
  }
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

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64url");
}
