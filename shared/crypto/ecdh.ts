import { createECDH } from "node:crypto";
import { CURVE_BYTES, type CurveName, leftPad } from "./public-key.ts";

const curves: Readonly<Record<CurveName, { readonly name: string; readonly order: bigint }>> = {
  "P-256": {
    name: "prime256v1",
    order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  },
  "P-384": {
    name: "secp384r1",
    order: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  },
  "P-521": {
    name: "secp521r1",
    order:
      0x1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
  },
};

export interface Point {
  readonly x: Uint8Array;
  readonly y: Uint8Array;
}

/** The bytes of randomness that one private scalar takes. */
export function scalarRandomBytes(curve: CurveName): number {
  return CURVE_BYTES[curve] + 8;
}

/** A private scalar from surplus random bytes. @see FIPS 186-5, A.2.1 */
export function privateScalar(curve: CurveName, random: Uint8Array): Uint8Array {
  const { order } = curves[curve];
  const scalar = (BigInt(`0x${Buffer.from(random).toString("hex")}`) % (order - 1n)) + 1n;
  const size = CURVE_BYTES[curve];
  return Uint8Array.from(Buffer.from(scalar.toString(16).padStart(size * 2, "0"), "hex"));
}

/** The point that belongs to a private scalar. */
export function publicPoint(curve: CurveName, scalar: Uint8Array): Point {
  const ecdh = createECDH(curves[curve].name);
  ecdh.setPrivateKey(scalar);
  const point = new Uint8Array(ecdh.getPublicKey());
  const size = CURVE_BYTES[curve];
  return { x: point.slice(1, 1 + size), y: point.slice(1 + size) };
}

/**
 * The x coordinate that two keys share, in the curve's full length.
 * @throws Error when the peer's point is not on the curve
 */
export function sharedX(curve: CurveName, scalar: Uint8Array, peer: Point): Uint8Array {
  const ecdh = createECDH(curves[curve].name);
  ecdh.setPrivateKey(scalar);
  const size = CURVE_BYTES[curve];
  const point = new Uint8Array(1 + 2 * size);
  point[0] = 4;
  point.set(leftPad(peer.x, size), 1);
  point.set(leftPad(peer.y, size), 1 + size);
  return leftPad(new Uint8Array(ecdh.computeSecret(point)), size);
}
