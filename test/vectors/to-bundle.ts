import { readFileSync } from "node:fs";
import type { EvidenceBundle } from "../../shared/attest/bundle.ts";
import type { Bank } from "../../shared/attest/verdict.ts";

type Json = Readonly<Record<string, unknown>>;

/** The folder of the recorded evidence. */
export const ATTESTATIONS = new URL("./attestations/", import.meta.url);

/** A recorded attestation as its file has it. */
export function readRecorded(file: string): Json {
  return JSON.parse(readFileSync(new URL(file, ATTESTATIONS), "utf8")) as Json;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function base64OfHex(hex: string | undefined): string | undefined {
  return hex === undefined ? undefined : Buffer.from(hex, "hex").toString("base64");
}

/**
 * A recorded attestation in the shape of an evidence bundle, or null where the file is no attestation: swtpm's sets
 * hold one bank's values, the real machines' hold every bank's, and Google's hold one quote a bank.
 */
export function toBundle(recorded: Json, select: readonly number[], bank: Bank, nonceHex?: string): Partial<Record<keyof EvidenceBundle, unknown>> {
  const quotes = Array.isArray(recorded.quotes) ? (recorded.quotes as Json[]) : [];
  const chosen = quotes.find((one) => text(one.bank)?.toLowerCase() === bank);
  const source = chosen ?? recorded;
  const pcrs = (source.pcrs ?? {}) as Json;
  const byBank = "0" in pcrs ? { [bank]: pcrs } : pcrs;
  const bundle = {
    akPublic: text(recorded.akPublic) ?? text(recorded.akPublicTPMT),
    quote: { attest: source.quote, signature: source.signature },
    expectedExtraData: base64OfHex(nonceHex ?? text(recorded.nonce) ?? text(source.extraData)),
    pcrs: byBank,
    eventLog: text(recorded.eventLog) ?? "",
    request: { bank, select: [...select] },
  };
  return bundle;
}
