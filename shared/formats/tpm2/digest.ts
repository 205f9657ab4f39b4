import { list, sized, struct, type TypeOf, u8, u16be, u32be } from "../codec.ts";
import { FormatError } from "../error.ts";
import { hashName, TPMI_ALG_HASH } from "./algorithms.ts";

/** TPM2B_DIGEST. @see TPM 2.0 Library Part 2, 10.4.2 */
export const TPM2B_DIGEST = sized(u16be, 64);

/** TPMS_PCR_SELECTION: one bank and the bit map of its PCRs. @see TPM 2.0 Library Part 2, 10.6.2 */
export const TPMS_PCR_SELECTION = struct({ hash: TPMI_ALG_HASH, pcrSelect: sized(u8, 4) });
export type TpmsPcrSelection = TypeOf<typeof TPMS_PCR_SELECTION>;

/** TPML_PCR_SELECTION. @see TPM 2.0 Library Part 2, 10.9.7 */
export const TPML_PCR_SELECTION = list(u32be, TPMS_PCR_SELECTION, 16);

/** The PCR indices of one selection, ascending. */
export function selectedPcrs(selection: TpmsPcrSelection): number[] {
  const selected: number[] = [];
  for (const [i, octet] of selection.pcrSelect.entries()) {
    for (let bit = 0; bit < 8; bit++) if ((octet >> bit) & 1) selected.push(i * 8 + bit);
  }
  return selected;
}

/**
 * The selection of these PCRs of one bank, in the three bytes that every TPM takes.
 * @throws FormatError when an index is not 0–23
 */
export function pcrSelection(hash: number, pcrs: readonly number[]): TpmsPcrSelection {
  const pcrSelect = new Uint8Array(3);
  for (const pcr of pcrs) {
    if (!Number.isInteger(pcr) || pcr < 0 || pcr > 23) {
      throw new FormatError("out-of-bounds", "TPMS_PCR_SELECTION", 0, `PCR ${pcr}`);
    }
    pcrSelect[pcr >> 3] = (pcrSelect[pcr >> 3] ?? 0) | (1 << (pcr & 7));
  }
  return { hash, pcrSelect };
}

/** A selection as text, for a verdict: "sha256:0,1,7". */
export function selectionText(selections: readonly TpmsPcrSelection[]): string {
  if (selections.length === 0) return "nothing";
  return selections
    .map((one) => `${hashName(one.hash) ?? `0x${one.hash.toString(16)}`}:${selectedPcrs(one).join(",") || "none"}`)
    .join(" ");
}
