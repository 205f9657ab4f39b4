import { readFileSync } from "node:fs";
import type { EvidenceBundle } from "../../shared/attest/bundle-read.ts";
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

/** A virtual machine's set, of which the manifest says what other tools read in it. */
export interface VmSet {
  name: string;
  expect: {
    nonce: string;
    event_log: boolean;
    events: number;
    secure_boot: boolean | null;
    ak_name: string;
    ek_spki_der_sha256: string;
    dbx?: { variable_sha256: string } | null;
    sbat_level_sha256: string | null;
    pcrs_sha256: Record<string, string>;
    authorities_after_separator: { variable: string; der_sha256?: string; subject?: string }[];
  };
}

export const VM = new URL("./vm/", import.meta.url);

export function vmSets(): VmSet[] {
  return (JSON.parse(readFileSync(new URL("manifest.json", VM), "utf8")) as { sets: VmSet[] }).sets;
}

/** A virtual machine's set as an evidence bundle. */
export function vmBundle(set: VmSet): Partial<Record<keyof EvidenceBundle, unknown>> {
  const base64 = (name: string) => readFileSync(new URL(`${set.name}/${name}`, VM)).toString("base64");
  const commandLine = readFileSync(new URL(`${set.name}/cmdline.txt`, VM), "utf8").trimEnd();
  return {
    akPublic: base64("ak.pub.tpm2b"),
    quote: { attest: base64("quote.msg"), signature: base64("quote.sig") },
    expectedExtraData: base64OfHex(set.expect.nonce),
    pcrs: { sha256: set.expect.pcrs_sha256 },
    eventLog: set.expect.event_log ? base64("eventlog.bin") : "",
    request: { bank: "sha256", select: Array.from({ length: 16 }, (_, i) => i) },
    ekCertificates: [base64("ek-rsa.crt.der"), base64("ek-ecc.crt.der")],
    ldevidPublic: base64("ldevid.pub.tpm2b"),
    certify: { attest: base64("certify.msg"), signature: base64("certify.sig") },
    report: Buffer.from(JSON.stringify({ commandLine })).toString("base64"),
  };
}
