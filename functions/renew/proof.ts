import type { z } from "zod";
import { bytes } from "../../shared/attest/bytes.ts";
import { judgeLdevid, publicKeyOf, readPublic } from "../../shared/attest/keys.ts";
import { recordedKey } from "../../shared/attest/recorded-key.ts";
import { type RenewClaims, renewQualifyingData, renewSignMessage } from "../../shared/attest/session.ts";
import { spkiSha256 } from "../../shared/attest/spki.ts";
import { type Refusal, refusal } from "../../shared/attest/verdict.ts";
import { messageProblem, type QuoteStageInput, verifyQuoteStage } from "../../shared/attest/verify.ts";
import { FormatError } from "../../shared/formats/error.ts";
import type { TpmtPublic } from "../../shared/formats/tpm2/public.ts";
import { readCertificate } from "../../shared/formats/x509/certificate.ts";
import { encodeSpki } from "../../shared/formats/x509/spki.ts";
import type { evidenceRequest } from "./schema.ts";

type Ask = z.output<typeof evidenceRequest>;

/** The new LDevID's public area as it was sent, or null where it is none. */
export function sentArea(ask: Ask): TpmtPublic | null {
  try {
    return readPublic(bytes(ask.ldevid.public));
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

/** Whether the area holds the key of a certificate. */
function isKeyOf(area: TpmtPublic, certificate: Uint8Array): boolean {
  const key = publicKeyOf(area);
  return key !== null && spkiSha256(encodeSpki(key)) === spkiSha256(readCertificate(certificate).spki);
}

/** The LAK as the quote's verifier needs it; null where the signature could be of no such key. */
export const lakArea = (ask: Ask, claims: RenewClaims): Uint8Array | null =>
  recordedKey("lak", bytes(claims.lakCertificate), bytes(ask.quote.signature));

/** What the quote stage is about, by a LAK whose area the recorded certificate stands for. */
export function stageOf(ask: Ask, claims: RenewClaims, akPublic: Uint8Array): QuoteStageInput {
  const [nonce, report, ldevidPublic] = [bytes(claims.nonce), bytes(ask.report), bytes(ask.ldevid.public)];
  const { quote, ldevidCertify } = ask;
  const certified = ldevidCertify && {
    ldevidPublic,
    certify: { attest: bytes(ldevidCertify.attest), signature: bytes(ldevidCertify.signature) },
  };
  return {
    akPublic,
    quote: { attest: bytes(quote.attest), signature: bytes(quote.signature) },
    expectedExtraData: renewQualifyingData(nonce, report, ldevidPublic),
    bank: claims.bank,
    select: claims.select,
    pcrs: ask.pcrs,
    ...certified,
  };
}

/**
 * Quote and certify by the recorded LAK, then the old LDevID's signature: the first failure ends it, names only itself,
 * changes nothing. What a quote must be over is the new key's area too, so that nobody else's can be slipped in.
 * @see spec/10-protocol.md section 5
 */
export function proofProblem(ask: Ask, claims: RenewClaims, area: TpmtPublic): Refusal | null {
  const [nonce, report, ldevidPublic] = [bytes(claims.nonce), bytes(ask.report), bytes(ask.ldevid.public)];
  const akPublic = lakArea(ask, claims);
  if (akPublic === null)
    return refusal("quote-invalid", "quote-signature", "no signature of such a key", "the recorded LAK's signature");
  const unfit = verifyQuoteStage(stageOf(ask, claims, akPublic)) ?? judgeLdevid(area);
  if (unfit !== null) return unfit;
  const oldCertificate = bytes(claims.ldevidCertificate);
  if (!ask.ldevidCertify && !isKeyOf(area, oldCertificate))
    return refusal("certify-invalid", "certify", "none", "a TPM2_Certify of the new LDevID key by the LAK");
  const signature = bytes(ask.signature);
  return messageProblem(
    "renewal-signature-invalid",
    recordedKey("ldevid", oldCertificate, signature) ?? new Uint8Array(0),
    renewSignMessage(nonce, report, ldevidPublic),
    signature,
  );
}
