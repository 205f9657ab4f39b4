import { oneOf, u16be } from "../codec.ts";

/** TPM_ALG_ID. @see TPM 2.0 Library Part 2, 6.3 */
export const TPM_ALG = {
  RSA: 0x0001,
  SHA1: 0x0004,
  AES: 0x0006,
  KEYEDHASH: 0x0008,
  SHA256: 0x000b,
  SHA384: 0x000c,
  SHA512: 0x000d,
  NULL: 0x0010,
  SM3_256: 0x0012,
  RSASSA: 0x0014,
  RSAES: 0x0015,
  RSAPSS: 0x0016,
  OAEP: 0x0017,
  ECDSA: 0x0018,
  ECDH: 0x0019,
  ECMQV: 0x001d,
  ECC: 0x0023,
  SHA3_256: 0x0027,
  SHA3_384: 0x0028,
  SHA3_512: 0x0029,
  CFB: 0x0043,
} as const;

/** TPM_ECC_CURVE. @see TPM 2.0 Library Part 2, 6.4 */
export const TPM_ECC = { NIST_P256: 0x0003, NIST_P384: 0x0004, NIST_P521: 0x0005 } as const;

/** TPM_ST. @see TPM 2.0 Library Part 2, 6.9 */
export const TPM_ST = { ATTEST_CERTIFY: 0x8017, ATTEST_QUOTE: 0x8018 } as const;

/** TPM_GENERATED_VALUE. @see TPM 2.0 Library Part 2, 6.2 */
export const TPM_GENERATED_VALUE = 0xff544347;

export type HashName = "sha1" | "sha256" | "sha384" | "sha512";
export type CurveName = "P-256" | "P-384" | "P-521";

export const HASH_NAMES: readonly HashName[] = ["sha1", "sha256", "sha384", "sha512"];

const hashNames: Readonly<Record<number, HashName>> = {
  [TPM_ALG.SHA1]: "sha1",
  [TPM_ALG.SHA256]: "sha256",
  [TPM_ALG.SHA384]: "sha384",
  [TPM_ALG.SHA512]: "sha512",
};

const curves: Readonly<Record<number, CurveName>> = {
  [TPM_ECC.NIST_P256]: "P-256",
  [TPM_ECC.NIST_P384]: "P-384",
  [TPM_ECC.NIST_P521]: "P-521",
};

export const HASH_ALGORITHMS = {
  sha1: TPM_ALG.SHA1,
  sha256: TPM_ALG.SHA256,
  sha384: TPM_ALG.SHA384,
  sha512: TPM_ALG.SHA512,
} as const satisfies Record<HashName, number>;

/** Digest sizes in bytes of every hash that an event log or a TPM may name. */
export const DIGEST_BYTES: Readonly<Record<number, number>> = {
  [TPM_ALG.SHA1]: 20,
  [TPM_ALG.SHA256]: 32,
  [TPM_ALG.SHA384]: 48,
  [TPM_ALG.SHA512]: 64,
  [TPM_ALG.SM3_256]: 32,
  [TPM_ALG.SHA3_256]: 32,
  [TPM_ALG.SHA3_384]: 48,
  [TPM_ALG.SHA3_512]: 64,
};

/** The name of a hash algorithm, where this code can compute it. */
export function hashName(algorithm: number): HashName | null {
  return hashNames[algorithm] ?? null;
}

/** The name of an elliptic curve, where this code knows it. */
export function curveName(curve: number): CurveName | null {
  return curves[curve] ?? null;
}

/** TPMI_ALG_HASH: any hash algorithm with a known digest size. @see TPM 2.0 Library Part 2, 9.27 */
export const TPMI_ALG_HASH = oneOf(u16be, Object.keys(DIGEST_BYTES).map(Number));
