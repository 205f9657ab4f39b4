import { digestHex, type HashName } from "../crypto/hash.ts";
import { decode } from "../formats/codec.ts";
import { FormatError } from "../formats/error.ts";
import { HASH_ALGORITHMS, hashName, TPM_GENERATED_VALUE, TPM_ST } from "../formats/tpm2/algorithms.ts";
import { TPMS_ATTEST, type TpmsAttest } from "../formats/tpm2/attest.ts";
import { selectedPcrs, selectionText } from "../formats/tpm2/digest.ts";
import type { TpmtPublic } from "../formats/tpm2/public.ts";
import { concat, fromHex, sameBytes, toHex } from "./hex.ts";
import { signatureProblem } from "./signature.ts";
import { type Bank, type Counters, type Refusal, refusal } from "./verdict.ts";

export interface QuoteInput {
  readonly akPublic: TpmtPublic;
  readonly attest: Uint8Array;
  readonly signature: Uint8Array;
  readonly expectedExtraData: Uint8Array;
  readonly bank: Bank;
  readonly select: readonly number[];
  /** Index → hex, as the machine sent them; only the selected ones count. */
  readonly pcrs: Readonly<Record<string, string>>;
}

const DIGEST_BYTES: Readonly<Record<Bank, number>> = { sha256: 32, sha384: 48 };

/**
 * The first thing that is wrong with a quote, or null. Nothing of it is believed before the selection is known to be
 * what was asked for: a TPM quotes a bank that it does not have as an empty selection with a valid digest.
 * @see spec/20-verification.md "Quote"
 */
export function quoteProblem(input: QuoteInput): Refusal | null {
  const no = (name: string, seen: string, expected: string): Refusal => refusal("quote-invalid", name, seen, expected);
  let attest: TpmsAttest;
  try {
    attest = decode(TPMS_ATTEST, input.attest, "TPMS_ATTEST");
  } catch (error) {
    if (error instanceof FormatError) return no("quote-structure", error.message, "a TPMS_ATTEST to its last byte");
    throw error;
  }
  if (attest.magic !== TPM_GENERATED_VALUE) {
    return no("quote-magic", `0x${attest.magic.toString(16)}`, "TPM_GENERATED_VALUE");
  }
  if (attest.type !== TPM_ST.ATTEST_QUOTE) return no("quote-type", `0x${attest.type.toString(16)}`, "ATTEST_QUOTE");
  if (!sameBytes(attest.extraData, input.expectedExtraData)) {
    return no("quote-nonce", toHex(attest.extraData), toHex(input.expectedExtraData));
  }
  const wanted = [...new Set(input.select)].sort((a, b) => a - b);
  const [selection, ...others] = attest.attested.pcrSelect;
  const exact =
    selection !== undefined &&
    others.length === 0 &&
    selection.hash === HASH_ALGORITHMS[input.bank] &&
    selectedPcrs(selection).join() === wanted.join() &&
    wanted.length > 0;
  if (!exact) {
    return no("quote-selection", selectionText(attest.attested.pcrSelect), `${input.bank}:${wanted.join(",")}`);
  }
  const values = wanted.map((pcr) => pcrValue(input.pcrs, pcr, input.bank));
  const missing = wanted.filter((_, i) => values[i] === null);
  if (missing.length > 0)
    return no("quote-pcrs", `no value of PCR ${missing.join(", ")}`, "a value of each PCR asked for");
  const hash = signingHash(input.akPublic);
  if (!hash) return no("quote-scheme", "a key without a hash of its own", "a scheme with SHA-256, SHA-384 or SHA-512");
  const pcrDigest = digestHex(hash, concat(...values.flatMap((value) => (value ? [value] : []))));
  if (pcrDigest !== toHex(attest.attested.pcrDigest)) {
    return no("quote-digest", toHex(attest.attested.pcrDigest), `${pcrDigest} of the values sent`);
  }
  const unsigned = signatureProblem(input.akPublic, input.attest, input.signature);
  return unsigned === null ? null : no("quote-signature", unsigned, "the AK's signature over the quote");
}

/** The counters of a well-formed statement, or null. */
export function countersOf(attestBytes: Uint8Array): Counters | null {
  let attest: TpmsAttest;
  try {
    attest = decode(TPMS_ATTEST, attestBytes, "TPMS_ATTEST");
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
  const { clock, resetCount, restartCount, safe } = attest.clockInfo;
  return {
    clock: clock.toString(),
    resetCount,
    restartCount,
    safe: safe === 1,
    firmwareVersion: attest.firmwareVersion.toString(16).padStart(16, "0"),
  };
}

/** One PCR's value in its bank's length, or null. */
export function pcrValue(pcrs: Readonly<Record<string, string>>, pcr: number, bank: Bank): Uint8Array | null {
  const text = Object.hasOwn(pcrs, String(pcr)) ? pcrs[String(pcr)] : undefined;
  const value = text === undefined ? null : fromHex(text);
  return value?.length === DIGEST_BYTES[bank] ? value : null;
}

function signingHash(key: TpmtPublic): HashName | null {
  const { scheme } = key.parameters;
  const hash = "hashAlg" in scheme ? hashName(scheme.hashAlg) : null;
  return hash === "sha1" ? null : hash;
}
