import { bits, oneOf, sized, sizedOf, struct, type TypeOf, tagged, u16be, u32be } from "../codec.ts";
import { TPM_ALG, TPMI_ALG_HASH } from "./algorithms.ts";
import { TPM2B_DIGEST } from "./digest.ts";

/** TPMA_OBJECT. @see TPM 2.0 Library Part 2, 8.3 */
export const TPMA_OBJECT = bits(u32be, {
  fixedTPM: 1,
  stClear: 2,
  fixedParent: 4,
  sensitiveDataOrigin: 5,
  userWithAuth: 6,
  adminWithPolicy: 7,
  firmwareLimited: 8,
  svnLimited: 9,
  noDA: 10,
  encryptedDuplication: 11,
  restricted: 16,
  decrypt: 17,
  sign: 18,
  x509sign: 19,
});
export type TpmaObject = TypeOf<typeof TPMA_OBJECT>;

const nothing = struct({});
const hashed = struct({ hashAlg: TPMI_ALG_HASH });
const aes = struct({ keyBits: oneOf(u16be, [128, 192, 256]), mode: oneOf(u16be, [TPM_ALG.CFB]) });

/** TPMT_SYM_DEF_OBJECT: null for a key that is no parent. @see TPM 2.0 Library Part 2, 11.1.7 */
const TPMT_SYM_DEF_OBJECT = tagged("algorithm", u16be, { [TPM_ALG.AES]: aes, [TPM_ALG.NULL]: nothing });

/** TPMT_RSA_SCHEME. @see TPM 2.0 Library Part 2, 11.2.4.2 */
const TPMT_RSA_SCHEME = tagged("scheme", u16be, {
  [TPM_ALG.RSASSA]: hashed,
  [TPM_ALG.RSAPSS]: hashed,
  [TPM_ALG.OAEP]: hashed,
  [TPM_ALG.RSAES]: nothing,
  [TPM_ALG.NULL]: nothing,
});

/** TPMT_ECC_SCHEME. @see TPM 2.0 Library Part 2, 11.2.5.6 */
const TPMT_ECC_SCHEME = tagged("scheme", u16be, {
  [TPM_ALG.ECDSA]: hashed,
  [TPM_ALG.ECDH]: hashed,
  [TPM_ALG.ECMQV]: hashed,
  [TPM_ALG.NULL]: nothing,
});

const TPMT_KDF_SCHEME = tagged("scheme", u16be, { [TPM_ALG.NULL]: nothing });

/** TPMS_RSA_PARMS. @see TPM 2.0 Library Part 2, 12.2.3.5 */
const TPMS_RSA_PARMS = struct({
  symmetric: TPMT_SYM_DEF_OBJECT,
  scheme: TPMT_RSA_SCHEME,
  keyBits: u16be,
  exponent: u32be,
});

/** TPMS_ECC_PARMS. @see TPM 2.0 Library Part 2, 12.2.3.6 */
const TPMS_ECC_PARMS = struct({
  symmetric: TPMT_SYM_DEF_OBJECT,
  scheme: TPMT_ECC_SCHEME,
  curveID: u16be,
  kdf: TPMT_KDF_SCHEME,
});

/** TPMS_ECC_POINT: coordinates may be shorter than the curve. @see TPM 2.0 Library Part 2, 11.2.5.2 */
export const TPMS_ECC_POINT = struct({ x: sized(u16be, 66), y: sized(u16be, 66) });

const head = { nameAlg: TPMI_ALG_HASH, objectAttributes: TPMA_OBJECT, authPolicy: TPM2B_DIGEST };

/** TPMT_PUBLIC of an RSA or ECC key. @see TPM 2.0 Library Part 2, 12.2.4 */
export const TPMT_PUBLIC = tagged("type", u16be, {
  [TPM_ALG.RSA]: struct({ ...head, parameters: TPMS_RSA_PARMS, unique: sized(u16be, 512) }),
  [TPM_ALG.ECC]: struct({ ...head, parameters: TPMS_ECC_PARMS, unique: TPMS_ECC_POINT }),
});
export type TpmtPublic = TypeOf<typeof TPMT_PUBLIC>;

/** TPM2B_PUBLIC. @see TPM 2.0 Library Part 2, 12.2.5 */
export const TPM2B_PUBLIC = sizedOf(u16be, TPMT_PUBLIC);
