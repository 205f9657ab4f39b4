import { decode } from "../formats/codec.ts";
import { FormatError } from "../formats/error.ts";
import { TPM_GENERATED_VALUE, TPM_ST } from "../formats/tpm2/algorithms.ts";
import { TPMS_ATTEST, type TpmsAttest } from "../formats/tpm2/attest.ts";
import type { TpmtPublic } from "../formats/tpm2/public.ts";
import { toHex } from "./hex.ts";
import { nameOf } from "./keys.ts";
import { signatureProblem } from "./signature.ts";
import { type Refusal, refusal } from "./verdict.ts";

export interface CertifyInput {
  /** The key that certifies. */
  readonly akPublic: TpmtPublic;
  /** The key that is certified. */
  readonly subject: TpmtPublic;
  readonly attest: Uint8Array;
  readonly signature: Uint8Array;
}

/**
 * The first thing that is wrong with a TPM2_Certify of a key by the AK, or null. Its extraData is not looked at:
 * tpm2_certify cannot set one, so its freshness is the AK's.
 * @see spec/10-protocol.md section 2
 */
export function certifyProblem(input: CertifyInput): Refusal | null {
  const no = (name: string, seen: string, expected: string): Refusal =>
    refusal("certify-invalid", name, seen, expected);
  let attest: TpmsAttest;
  try {
    attest = decode(TPMS_ATTEST, input.attest, "TPMS_ATTEST");
  } catch (error) {
    if (error instanceof FormatError) return no("certify-structure", error.message, "a TPMS_ATTEST to its last byte");
    throw error;
  }
  if (attest.magic !== TPM_GENERATED_VALUE) {
    return no("certify-magic", `0x${attest.magic.toString(16)}`, "TPM_GENERATED_VALUE");
  }
  if (attest.type !== TPM_ST.ATTEST_CERTIFY) {
    return no("certify-type", `0x${attest.type.toString(16)}`, "ATTEST_CERTIFY");
  }
  const name = toHex(nameOf(input.subject));
  if (toHex(attest.attested.name) !== name) return no("certify-name", toHex(attest.attested.name), name);
  const unsigned = signatureProblem(input.akPublic, input.attest, input.signature);
  return unsigned === null ? null : no("certify-signature", unsigned, "the AK's signature over the certification");
}
