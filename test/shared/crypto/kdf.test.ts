import { createPrivateKey, hkdfSync, privateDecrypt } from "node:crypto";
import { expect, test } from "vitest";
import { privateScalar, publicPoint, scalarRandomBytes, sharedX } from "../../../shared/crypto/ecdh.ts";
import type { HashName } from "../../../shared/crypto/hash.ts";
import { hkdfSha256, kdfa, kdfe } from "../../../shared/crypto/kdf.ts";
import { CURVE_BYTES } from "../../../shared/crypto/public-key.ts";
import { decode } from "../../../shared/formats/codec.ts";
import { curveName, hashName } from "../../../shared/formats/tpm2/algorithms.ts";
import { TPMS_ECC_POINT, TPMT_PUBLIC } from "../../../shared/formats/tpm2/public.ts";
import { hex, vectorJson } from "../../vectors/read.ts";

interface KdfVector {
  Name: string;
  HashAlg: number;
  Key: string;
  Z: string;
  Label: string;
  ContextU: string;
  ContextV: string;
  Bits: number;
  Result: string;
}

interface EncapsVector {
  Name: string;
  Label: string;
  EphemeralPrivate: string;
  PublicKey: string;
  PrivateKey: string;
  Secret: string;
  Ciphertext: string;
}

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));

function known(algorithm: number): HashName {
  const hash = hashName(algorithm);
  if (!hash) throw new Error(`hash ${algorithm}`);
  return hash;
}

const input = (one: KdfVector) => ({
  hash: known(one.HashAlg),
  label: one.Label,
  contextU: bytes(one.ContextU),
  contextV: bytes(one.ContextV),
  bits: one.Bits,
});

test.each(vectorJson<KdfVector[]>("tpmcrypto/kdfa.json").map((one) => [one.Name, one] as const))(
  "KDFa %s",
  (_, one) => {
    expect(hex(kdfa(bytes(one.Key), input(one)))).toBe(one.Result);
  },
);

test.each(vectorJson<KdfVector[]>("tpmcrypto/kdfe.json").map((one) => [one.Name, one] as const))(
  "KDFe %s",
  (_, one) => {
    expect(hex(kdfe(bytes(one.Z), input(one)))).toBe(one.Result);
  },
);

test.each(vectorJson<EncapsVector[]>("tpmcrypto/ecc_labeled_encaps.json").map((one) => [one.Name, one] as const))(
  "labelled encapsulation to an ECC key: %s",
  (_, one) => {
    const area = decode(TPMT_PUBLIC, bytes(one.PublicKey), "TPMT_PUBLIC");
    if (area.type !== 0x0023) throw new Error("no ECC key");
    const curve = curveName(area.parameters.curveID);
    if (!curve) throw new Error("no curve");
    const hash = known(area.nameAlg);
    const scalar = bytes(one.EphemeralPrivate);
    const ephemeral = publicPoint(curve, scalar);
    expect(decode(TPMS_ECC_POINT, bytes(one.Ciphertext), "TPMS_ECC_POINT")).toEqual(ephemeral);
    const z = sharedX(curve, scalar, area.unique);
    const bits = one.Secret.length * 4;
    const seed = kdfe(z, { hash, label: one.Label, contextU: ephemeral.x, contextV: area.unique.x, bits });
    expect(hex(seed)).toBe(one.Secret);
  },
);

// OAEP's salt is the platform's: so what the vectors encrypted is decrypted, by the label that oaepEncrypt writes.
test.each(
  vectorJson<EncapsVector[]>("tpmcrypto/rsa_labeled_encaps.json")
    .filter((one) => !one.Name.includes("SHA3"))
    .map((one) => [one.Name, one] as const),
)("labelled encapsulation to an RSA key: %s", (_, one) => {
  const area = decode(TPMT_PUBLIC, bytes(one.PublicKey), "TPMT_PUBLIC");
  if (area.type !== 0x0001) throw new Error("no RSA key");
  const key = rsaPrivate(area.unique, bytes(one.PrivateKey));
  const oaepLabel = Buffer.from(`${one.Label}\0`);
  // A key with a scheme of its own says the hash; an EK has none, and its nameAlg is it.
  const { scheme } = area.parameters;
  const oaepHash = known("hashAlg" in scheme ? scheme.hashAlg : area.nameAlg);
  expect(hex(privateDecrypt({ key, oaepHash, oaepLabel }, bytes(one.Ciphertext)))).toBe(one.Secret);
});

/** A TPMT_SENSITIVE ends with one prime; the rest of the private key follows from it. */
function rsaPrivate(modulus: Uint8Array, sensitive: Uint8Array) {
  const big = (octets: Uint8Array): bigint => BigInt(`0x${Buffer.from(octets).toString("hex")}`);
  const n = big(modulus);
  const p = big(sensitive.subarray(-modulus.length / 2));
  const q = n / p;
  const d = inverse(65_537n, (p - 1n) * (q - 1n));
  const part = (value: bigint): string => {
    const digits = value.toString(16);
    return Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex").toString("base64url");
  };
  const jwk = { kty: "RSA", n: part(n), e: "AQAB", d: part(d), p: part(p), q: part(q) };
  return createPrivateKey({
    key: { ...jwk, dp: part(d % (p - 1n)), dq: part(d % (q - 1n)), qi: part(inverse(q, p)) },
    format: "jwk",
  });
}

function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [((value % modulus) + modulus) % modulus, modulus, 1n, 0n];
  while (b !== 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((x % modulus) + modulus) % modulus;
}

test("a scalar is of the curve's length and below its order, whatever the randomness", () => {
  for (const curve of ["P-256", "P-384", "P-521"] as const) {
    const length = scalarRandomBytes(curve);
    for (const fill of [0x00, 0xff]) {
      const scalar = privateScalar(curve, new Uint8Array(length).fill(fill));
      expect(scalar.length).toBe(CURVE_BYTES[curve]);
      expect(publicPoint(curve, scalar).x.length).toBe(CURVE_BYTES[curve]);
    }
  }
});

test("HKDF is RFC 5869's first case", () => {
  const prk = hkdfSha256(new Uint8Array(22).fill(0x0b), bytes("000102030405060708090a0b0c"), "", 42);
  expect(prk.length).toBe(42);
  expect(hex(prk)).toBe(
    Buffer.from(hkdfSync("sha256", Buffer.alloc(22, 0x0b), bytes("000102030405060708090a0b0c"), "", 42)).toString(
      "hex",
    ),
  );
  expect(hex(hkdfSha256(new Uint8Array(22).fill(0x0b), new Uint8Array(0), "", 42))).toBe(
    "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
  );
});
