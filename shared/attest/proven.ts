import { decode } from "../formats/codec.ts";
import { hashName, TPM_ALG } from "../formats/tpm2/algorithms.ts";
import { TPMS_ATTEST } from "../formats/tpm2/attest.ts";
import { selectionText } from "../formats/tpm2/digest.ts";
import type { TpmtPublic } from "../formats/tpm2/public.ts";
import { toHex } from "./hex.ts";
import { keyText, readEitherPublic } from "./keys.ts";
import type { Check } from "./verdict.ts";
import type { QuoteStageInput, SignedStatement } from "./verify.ts";

const ok = (name: string, seen: string, expected: string): Check => ({ name, ok: true, seen, expected });

const STRUCTURE = "a TPMS_ATTEST to its last byte";
const SCHEMES: ReadonlyMap<number, string> = new Map([
  [TPM_ALG.RSASSA, "RSASSA"],
  [TPM_ALG.RSAPSS, "RSAPSS"],
  [TPM_ALG.ECDSA, "ECDSA"],
]);

/**
 * What a quote stage that held has shown, check by check, under the names that `verifyQuoteStage` refuses by.
 * @see spec/20-verification.md: the verdict is every check by name with what was seen
 */
export function provenChecks(input: QuoteStageInput): Check[] {
  const ak = readEitherPublic(input.akPublic);
  const quote = decode(TPMS_ATTEST, input.quote.attest, "TPMS_ATTEST");
  const selected = "pcrSelect" in quote.attested ? quote.attested : null;
  const { ldevidPublic, certify } = input;
  return [
    ok("ak", keyText(ak), "a restricted signing key, fixed to its TPM"),
    ...statementChecks("quote", "ATTEST_QUOTE", input.quote),
    ok("quote-nonce", toHex(quote.extraData), toHex(input.expectedExtraData)),
    ok("quote-selection", selectionText(selected?.pcrSelect ?? []), `${input.bank}:${input.select.join(",")}`),
    ok("quote-pcrs", `${input.select.length} values`, "a value of each PCR asked for"),
    ok("quote-digest", toHex(selected?.pcrDigest ?? new Uint8Array(0)), "the digest of the values sent"),
    ok("quote-signature", schemeText(ak), "the AK's signature over the quote"),
    ...(ldevidPublic && certify ? certifiedChecks(ak, readEitherPublic(ldevidPublic), certify) : []),
  ];
}

function certifiedChecks(ak: TpmtPublic, ldevid: TpmtPublic, certify: SignedStatement): Check[] {
  const { attested } = decode(TPMS_ATTEST, certify.attest, "TPMS_ATTEST");
  const name = "name" in attested ? toHex(attested.name) : "";
  return [
    ok("ldevid", keyText(ldevid), "an unrestricted signing key, fixed to its TPM"),
    ...statementChecks("certify", "ATTEST_CERTIFY", certify),
    ok("certify-name", name, "the LDevID key's Name"),
    ok("certify-signature", schemeText(ak), "the AK's signature over the certification"),
  ];
}

function statementChecks(kind: "quote" | "certify", type: string, statement: SignedStatement): Check[] {
  return [
    ok(`${kind}-structure`, `${statement.attest.length} bytes`, STRUCTURE),
    ok(`${kind}-magic`, "TPM_GENERATED_VALUE", "TPM_GENERATED_VALUE"),
    ok(`${kind}-type`, type, type),
  ];
}

function schemeText(key: TpmtPublic): string {
  const { scheme } = key.parameters;
  const hash = "hashAlg" in scheme ? hashName(scheme.hashAlg) : null;
  return `${SCHEMES.get(scheme.scheme) ?? "no scheme"} with ${hash ?? "no hash"}`;
}
