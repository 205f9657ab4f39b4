import { childrenOf, expectTag, oidText, readDer, TAG } from "../der.ts";
import { bitString, nullValue, oid, sequence, unsignedInteger } from "../der-write.ts";
import { FormatError } from "../error.ts";
import { OID } from "./oids.ts";

export type SpkiCurve = "P-256" | "P-384" | "P-521";

/** A public key by its numbers, free of the ways in which vendors encode it. */
export type SpkiKey =
  | { readonly type: "rsa"; readonly modulus: Uint8Array; readonly exponent: Uint8Array }
  | { readonly type: "ec"; readonly curve: SpkiCurve; readonly x: Uint8Array; readonly y: Uint8Array };

const curves: Readonly<Record<SpkiCurve, { readonly oid: string; readonly bytes: number }>> = {
  "P-256": { oid: OID.prime256v1, bytes: 32 },
  "P-384": { oid: OID.secp384r1, bytes: 48 },
  "P-521": { oid: OID.secp521r1, bytes: 66 },
};

/**
 * The normalised SubjectPublicKeyInfo of a key: rsaEncryption, or id-ecPublicKey with the named curve.
 * @throws FormatError when a coordinate is longer than its curve
 * @see RFC 3279 section 2.3; spec/10-protocol.md section 1
 */
export function encodeSpki(key: SpkiKey): Uint8Array {
  return sequence(algorithmOf(key), bitString(keyBits(key)));
}

/** The contents of subjectPublicKey: what key identifiers are hashes of. */
export function keyBits(key: SpkiKey): Uint8Array {
  if (key.type === "rsa") return sequence(unsignedInteger(key.modulus), unsignedInteger(key.exponent));
  const { bytes } = curves[key.curve];
  const point = new Uint8Array(1 + 2 * bytes);
  point[0] = 4;
  if (key.x.length > bytes || key.y.length > bytes) throw new FormatError("out-of-bounds", "ECPoint", 0);
  point.set(key.x, 1 + bytes - key.x.length);
  point.set(key.y, 1 + 2 * bytes - key.y.length);
  return point;
}

/**
 * The key in a SubjectPublicKeyInfo, or null where its algorithm is none that TPMs use. An id-RSAES-OAEP key is the
 * same RSA key under another name; an id-RSASSA-PSS one too.
 * @throws FormatError
 */
export function decodeSpki(bytes: Uint8Array): SpkiKey | null {
  const structure = "SubjectPublicKeyInfo";
  const [algorithm, subjectPublicKey] = childrenOf(
    expectTag(readDer(bytes, structure), TAG.SEQUENCE, structure),
    structure,
  );
  const [algorithmId, parameters] = childrenOf(expectTag(algorithm, TAG.SEQUENCE, structure), structure);
  const name = oidText(expectTag(algorithmId, TAG.OID, structure), structure);
  const { contents } = expectTag(subjectPublicKey, TAG.BIT_STRING, structure);
  if (contents[0] !== 0) throw new FormatError("unknown-value", structure, 0, "unused bits in a key");
  const bits = contents.subarray(1);
  if (name === OID.rsaEncryption || name === OID["id-RSAES-OAEP"] || name === OID["id-RSASSA-PSS"]) {
    const [modulus, exponent] = childrenOf(
      expectTag(readDer(bits, "RSAPublicKey"), TAG.SEQUENCE, structure),
      structure,
    );
    return { type: "rsa", modulus: positive(modulus, structure), exponent: positive(exponent, structure) };
  }
  if (name !== OID["id-ecPublicKey"] || parameters?.tag !== TAG.OID) return null;
  const curveOid = oidText(parameters, structure);
  for (const curve of ["P-256", "P-384", "P-521"] as const) {
    const { oid: known, bytes: size } = curves[curve];
    if (known !== curveOid) continue;
    if (bits[0] !== 4 || bits.length !== 1 + 2 * size) throw new FormatError("unknown-value", "ECPoint", 0);
    return { type: "ec", curve, x: bits.subarray(1, 1 + size), y: bits.subarray(1 + size) };
  }
  return null;
}

function algorithmOf(key: SpkiKey): Uint8Array {
  if (key.type === "rsa") return sequence(oid(OID.rsaEncryption), nullValue());
  return sequence(oid(OID["id-ecPublicKey"]), oid(curves[key.curve].oid));
}

function positive(element: Parameters<typeof expectTag>[0], structure: string): Uint8Array {
  const { contents, offset } = expectTag(element, TAG.INTEGER, structure);
  let start = 0;
  while (start < contents.length && contents[start] === 0) start++;
  if (start === contents.length || (start === 0 && (contents[0] ?? 0) >= 0x80)) {
    throw new FormatError("out-of-bounds", structure, offset, "not a positive number");
  }
  return contents.subarray(start);
}
