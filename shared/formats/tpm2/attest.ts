import { joined, oneOf, sized, struct, type TypeOf, tagged, u8, u16be, u32be, u64be } from "../codec.ts";
import { TPM_ST } from "./algorithms.ts";
import { TPML_PCR_SELECTION } from "./digest.ts";

/** TPM2B_NAME: a handle or a digest with its algorithm. @see TPM 2.0 Library Part 2, 10.5.3 */
const TPM2B_NAME = sized(u16be, 66);
const TPM2B_DATA = sized(u16be, 66);

/** TPMS_CLOCK_INFO. @see TPM 2.0 Library Part 2, 10.11.1 */
export const TPMS_CLOCK_INFO = struct({
  clock: u64be,
  resetCount: u32be,
  restartCount: u32be,
  safe: oneOf(u8, [0, 1]),
});

/** TPMS_QUOTE_INFO. @see TPM 2.0 Library Part 2, 10.12.1 */
export const TPMS_QUOTE_INFO = struct({ pcrSelect: TPML_PCR_SELECTION, pcrDigest: sized(u16be, 64) });

/** TPMS_CERTIFY_INFO. @see TPM 2.0 Library Part 2, 10.12.3 */
export const TPMS_CERTIFY_INFO = struct({ name: TPM2B_NAME, qualifiedName: TPM2B_NAME });

const signedHead = {
  qualifiedSigner: TPM2B_NAME,
  extraData: TPM2B_DATA,
  clockInfo: TPMS_CLOCK_INFO,
  firmwareVersion: u64be,
};

/**
 * TPMS_ATTEST of a quote or a certification; the magic is read as it stands, for the verifier to judge.
 * @see TPM 2.0 Library Part 2, 10.12.8
 */
export const TPMS_ATTEST = joined(
  struct({ magic: u32be }),
  tagged("type", u16be, {
    [TPM_ST.ATTEST_QUOTE]: struct({ ...signedHead, attested: TPMS_QUOTE_INFO }),
    [TPM_ST.ATTEST_CERTIFY]: struct({ ...signedHead, attested: TPMS_CERTIFY_INFO }),
  }),
);
export type TpmsAttest = TypeOf<typeof TPMS_ATTEST>;
