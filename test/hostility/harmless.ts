import { EV } from "../../shared/formats/eventlog/event-types.ts";
import { type EventRecord, readEventLog } from "../../shared/formats/eventlog/log.ts";

/**
 * The only changes to accepted evidence that leave it accepted, each with the reason why that is no lie that anybody
 * gains by. A test that meets one asserts that the whole result is the same: verdict, checks, authorities, facts.
 */
export const HARMLESS = {
  "ek-certificate": "a certificate is shown and judges nothing: the approved key is the trust, activation proves it",
  "ak-attribute":
    "attributes that no rule reads; online the credential is made for the area's Name, so none can change",
  "ak-name-algorithm": "nameAlg and authPolicy of the AK: online a part of the Name that activation proves",
  "pcr-case": "a hex digit's letter case: the same number",
  "pcr-not-selected": "a value of a PCR or bank that the quote is not over is read nowhere",
  "spec-id": "platform class, versions and vendor information of the header are read nowhere",
  "header-digest": "the header's SHA-1 digest is extended nowhere",
  "type-outside-pcr7": "the type of an event is under no digest, and outside PCR 7 says nothing that is judged",
  "data-outside-pcr7": "data outside PCR 7 is believed nowhere",
  "other-bank": "the digests of a bank that was not asked for are read nowhere",
  "no-action": "EV_NO_ACTION is never extended: only StartupLocality and the header are read of them",
  "pcr-not-judged": "a PCR that neither policy nor spec reads (8, 10 and above) need not replay",
  "stray-byte": "old shims log one byte more than they measure: it is in no digest and is cut",
  base64: "spare bits of the last base64 digit are in no byte",
} as const;

export type Harmless = keyof typeof HARMLESS;

const RECORD_HEAD_BYTES = 8;
const DIGEST_BYTES: Readonly<Record<number, number>> = { 4: 20, 11: 32, 12: 48, 13: 64 };

export interface LogRules {
  /** The TPM_ALG_ID of the bank that is judged. */
  readonly bankId: number;
  /** The PCRs that must replay. */
  readonly judged: readonly number[];
}

/** Which rule, if any, says that this byte of a log may be another. */
export function harmlessInLog(log: Uint8Array, { bankId, judged }: LogRules): (offset: number) => Harmless | null {
  const { records, algorithms } = readEventLog(log);
  const afterSeparator = records.findIndex((one) => one.pcrIndex === 7 && one.untrustedType === EV.EV_SEPARATOR);
  return (offset) => {
    const record = records.findLast((one) => one.offset <= offset);
    if (!record) return null;
    const at = offset - record.offset;
    if (record.record === 0) return ofHeader(at);
    if (record.untrustedType === EV.EV_NO_ACTION) return "no-action";
    if (!judged.includes(record.pcrIndex)) return "pcr-not-judged";
    return ofRecord(record, at, algorithms, bankId, record.record > afterSeparator);
  };
}

/** Where a log may end sooner: behind the last record that is judged. */
export function harmlessEnds(log: Uint8Array, { judged }: LogRules): number[] {
  const { records } = readEventLog(log);
  const read = (one: EventRecord) => one.untrustedType !== EV.EV_NO_ACTION && judged.includes(one.pcrIndex);
  const last = records.findLastIndex(read);
  return records.slice(last + 1).map((one) => one.offset);
}

function ofHeader(at: number): Harmless | null {
  if (at >= RECORD_HEAD_BYTES && at < 28) return "header-digest";
  // Behind the digest: the event's size, its signature, then eight octets of class and versions.
  return at >= 48 && at < 56 ? "spec-id" : null;
}

function ofRecord(
  record: EventRecord,
  at: number,
  algorithms: readonly number[],
  bankId: number,
  afterSeparator: boolean,
): Harmless | null {
  if (at < 4) return null;
  if (at < RECORD_HEAD_BYTES) return record.pcrIndex === 7 ? null : "type-outside-pcr7";
  let next = RECORD_HEAD_BYTES + 4;
  for (const algorithm of algorithms) {
    const start = next + 2;
    next = start + (DIGEST_BYTES[algorithm] ?? 0);
    if (at >= start && at < next) return algorithm === bankId ? null : "other-bank";
  }
  if (at < next + 4) return null;
  if (record.pcrIndex !== 7) return "data-outside-pcr7";
  const last = next + 4 + record.untrustedData.length - 1;
  const authority = record.untrustedType === EV.EV_EFI_VARIABLE_AUTHORITY;
  return authority && afterSeparator && at === last ? "stray-byte" : null;
}

/** Which rule, if any, says that this byte of a TPM2B_PUBLIC may be another. */
export function harmlessInAk(offset: number): Harmless | null {
  if (offset >= 6 && offset < 10) return "ak-attribute";
  return offset === 4 || offset === 5 ? "ak-name-algorithm" : null;
}
