import { createHash } from "node:crypto";
import { encode } from "../../shared/formats/codec.ts";
import { EV } from "../../shared/formats/eventlog/event-types.ts";
import { TCG_EFI_SPEC_ID_EVENT, TCG_PCR_EVENT, tcgPcrEvent2 } from "../../shared/formats/eventlog/log.ts";
import { TPMS_ATTEST } from "../../shared/formats/tpm2/attest.ts";
import { pcrSelection, type TpmsPcrSelection } from "../../shared/formats/tpm2/digest.ts";
import type { Measurement } from "../shared/attest/log-builder.ts";
import type { SoftKey } from "../shared/attest/soft-key.ts";

export type LogBank = "sha1" | "sha256" | "sha384";

/** A measurement whose digests may be those of another thing in one bank, or whose record may be logged and not done. */
export interface Recorded extends Measurement {
  /** bank → digest, in place of the hash of what was hashed. */
  readonly digests?: Readonly<Partial<Record<LogBank, Uint8Array>>>;
}

export const BANKS = {
  sha1: { id: 0x0004, bytes: 20 },
  sha256: { id: 0x000b, bytes: 32 },
  sha384: { id: 0x000c, bytes: 48 },
} as const;

export const hashOf = (hash: string, ...parts: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(parts.reduce((running, part) => running.update(part), createHash(hash)).digest());
export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

export interface BuiltLog {
  readonly log: Uint8Array;
  /** bank → index → hex: what a TPM holds after these measurements. */
  readonly pcrs: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** A log in these banks, with the PCRs that a TPM would hold after it; PCR 0 starts at the given locality. */
export function recordLog(
  records: readonly Recorded[],
  banks: readonly LogBank[] = ["sha256"],
  locality = 0,
): BuiltLog {
  const event = encode(TCG_EFI_SPEC_ID_EVENT, {
    signature: new TextEncoder().encode("Spec ID Event03\0"),
    platformClass: 0,
    specVersionMinor: 0,
    specVersionMajor: 2,
    specErrata: 0,
    uintnSize: 2,
    algorithms: banks.map((bank) => ({ algorithmId: BANKS[bank].id, digestSize: BANKS[bank].bytes })),
    vendorInfo: new Uint8Array(0),
  });
  const parts = [encode(TCG_PCR_EVENT, { pcrIndex: 0, eventType: EV.EV_NO_ACTION, digest: new Uint8Array(20), event })];
  const values = new Map(banks.map((bank) => [bank, startOf(bank, locality)]));
  for (const { pcr, type, data, hashed, digests } of records) {
    const measured = banks.map((bank) => ({ bank, digest: digests?.[bank] ?? hashOf(bank, hashed ?? data) }));
    const layout = tcgPcrEvent2(banks.map((bank) => BANKS[bank].id));
    const written = measured.map(({ bank, digest }) => ({ algorithmId: BANKS[bank].id, digest }));
    parts.push(encode(layout, { pcrIndex: pcr, eventType: type, digests: written, event: data }));
    if (type === EV.EV_NO_ACTION) continue;
    for (const { bank, digest } of measured) {
      const held = values.get(bank);
      const before = held?.[pcr];
      if (held && before) held[pcr] = hashOf(bank, before, digest);
    }
  }
  const pcrs = Array.from(values, ([bank, held]) => [bank, Object.fromEntries(held.map((v, i) => [i, hexOf(v)]))]);
  return { log: new Uint8Array(Buffer.concat(parts)), pcrs: Object.fromEntries(pcrs) };
}

function startOf(bank: LogBank, locality: number): Uint8Array[] {
  const values = Array.from({ length: 24 }, () => new Uint8Array(BANKS[bank].bytes));
  values[0]?.set([locality], BANKS[bank].bytes - 1);
  return values;
}

/** What a quote is over, where it is not what was asked for. */
export interface QuoteOptions {
  readonly selections?: readonly TpmsPcrSelection[];
  readonly magic?: number;
}

/** A quote by a key in software, as a TPM makes one. */
export function quoteBy(
  key: SoftKey,
  extraData: Uint8Array,
  bank: LogBank,
  pcrs: Readonly<Record<string, string>>,
  select: readonly number[],
  options: QuoteOptions = {},
): { readonly attest: string; readonly signature: string } {
  const values = select.map((pcr) => Buffer.from(pcrs[String(pcr)] ?? "", "hex"));
  const scheme = key.area.parameters.scheme;
  const hash = "hashAlg" in scheme && scheme.hashAlg === 0x000c ? "sha384" : "sha256";
  const attest = encode(TPMS_ATTEST, {
    magic: options.magic ?? 0xff544347,
    type: 0x8018,
    qualifiedSigner: Uint8Array.from([0, 0x0b, ...new Uint8Array(32).fill(7)]),
    extraData,
    clockInfo: { clock: 77n, resetCount: 2, restartCount: 3, safe: 1 },
    firmwareVersion: 4n,
    attested: {
      pcrSelect: [...(options.selections ?? [pcrSelection(BANKS[bank].id, select)])],
      pcrDigest: hashOf(hash, ...values),
    },
  });
  return { attest: base64(attest), signature: base64(key.sign(attest)) };
}
