import { FormatError } from "../formats/error.ts";
import type { TpmtPublic } from "../formats/tpm2/public.ts";
import { certifyProblem } from "./certify.ts";
import { judgeAk, judgeLdevid, readEitherPublic } from "./keys.ts";
import { quoteProblem } from "./quote.ts";
import { signatureProblem } from "./signature.ts";
import { type Bank, type Refusal, refusal } from "./verdict.ts";

/** A statement of the TPM's as it travels: TPMS_ATTEST and TPMT_SIGNATURE. */
export interface SignedStatement {
  readonly attest: Uint8Array;
  readonly signature: Uint8Array;
}

export interface QuoteStageInput {
  /** The area whose Name the activation proved (TPM2B_PUBLIC or TPMT_PUBLIC). */
  readonly akPublic: Uint8Array;
  readonly quote: SignedStatement;
  readonly expectedExtraData: Uint8Array;
  readonly bank: Bank;
  readonly select: readonly number[];
  readonly pcrs: Readonly<Record<string, string>>;
  /** The LDevID's area with its certification by the AK; both or neither. */
  readonly ldevidPublic?: Uint8Array;
  readonly certify?: SignedStatement;
}

/**
 * All that must hold before a log is looked at: the AK's attributes, the quote, the LDevID's certification. Stops at
 * the first that does not.
 * @see spec/10-protocol.md section 2
 */
export function verifyQuoteStage(input: QuoteStageInput): Refusal | null {
  const ak = areaOf(input.akPublic);
  if (!ak) return refusal("ak-attributes", "ak", "no public area", "a TPM2B_PUBLIC");
  const { akPublic: _, ldevidPublic, certify, ...quoted } = input;
  const quote = { ...quoted, ...input.quote, akPublic: ak };
  const wrong = judgeAk(ak) ?? quoteProblem(quote);
  if (wrong || (!ldevidPublic && !certify)) return wrong;
  const ldevid = ldevidPublic ? areaOf(ldevidPublic) : null;
  if (!ldevid) return refusal("ldevid-attributes", "ldevid", "no public area", "a TPM2B_PUBLIC");
  const unfit = judgeLdevid(ldevid);
  if (unfit) return unfit;
  if (!certify) return refusal("certify-invalid", "certify", "none", "a TPM2_Certify of the LDevID key by the AK");
  return certifyProblem({ ...certify, akPublic: ak, subject: ldevid });
}

/**
 * Whether a key of a TPM's signed a message by its own scheme; the code tells which step asked.
 * @see spec/10-protocol.md sections 3 and 5
 */
export function messageProblem(
  code: "confirm-invalid" | "renewal-signature-invalid",
  publicArea: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Refusal | null {
  const area = areaOf(publicArea);
  const wrong = area ? signatureProblem(area, message, signature) : "no public area";
  return wrong === null ? null : refusal(code, "signature", wrong, "the LDevID key's signature over the message");
}

function areaOf(bytes: Uint8Array): TpmtPublic | null {
  try {
    return readEitherPublic(bytes);
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}
