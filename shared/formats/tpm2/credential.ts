import { rest, sized, sizedOf, struct, type TypeOf, u16be } from "../codec.ts";
import { TPM2B_DIGEST } from "./digest.ts";

/** TPMS_ID_OBJECT: the encrypted identity fills the structure to its end. @see TPM 2.0 Library Part 2, 12.4.2 */
const TPMS_ID_OBJECT = struct({ integrityHMAC: TPM2B_DIGEST, encIdentity: rest });

/** TPM2B_ID_OBJECT. @see TPM 2.0 Library Part 2, 12.4.3 */
export const TPM2B_ID_OBJECT = sizedOf(u16be, TPMS_ID_OBJECT);
export type TpmsIdObject = TypeOf<typeof TPMS_ID_OBJECT>;

/** TPM2B_ENCRYPTED_SECRET: an OAEP ciphertext or a TPMS_ECC_POINT. @see TPM 2.0 Library Part 2, 11.4.33 */
export const TPM2B_ENCRYPTED_SECRET = sized(u16be, 512);

/** TPM2B_PRIVATE: wrapped to its TPM, opaque here. @see TPM 2.0 Library Part 2, 12.3.7 */
export const TPM2B_PRIVATE = sized(u16be, 4096);
