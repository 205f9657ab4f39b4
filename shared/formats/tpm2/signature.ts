import { sized, struct, type TypeOf, tagged, u16be } from "../codec.ts";
import { TPM_ALG, TPMI_ALG_HASH } from "./algorithms.ts";

const rsa = struct({ hash: TPMI_ALG_HASH, sig: sized(u16be, 512) });
const ecc = struct({ hash: TPMI_ALG_HASH, signatureR: sized(u16be, 66), signatureS: sized(u16be, 66) });

/** TPMT_SIGNATURE by RSASSA, RSAPSS or ECDSA. @see TPM 2.0 Library Part 2, 11.3.4 */
export const TPMT_SIGNATURE = tagged("sigAlg", u16be, {
  [TPM_ALG.RSASSA]: rsa,
  [TPM_ALG.RSAPSS]: rsa,
  [TPM_ALG.ECDSA]: ecc,
});
export type TpmtSignature = TypeOf<typeof TPMT_SIGNATURE>;
