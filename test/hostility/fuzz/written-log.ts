import { createHash } from "node:crypto";
import { encode } from "../../../shared/formats/codec.ts";
import {
  type EventLog,
  type EventRecord,
  readEventLog,
  TCG_PCR_EVENT,
  tcgPcrEvent2,
} from "../../../shared/formats/eventlog/log.ts";
import { hashName } from "../../../shared/formats/tpm2/algorithms.ts";

type Written = Pick<EventRecord, "pcrIndex" | "untrustedType" | "untrustedData" | "digests">;

function written(log: EventLog, records: readonly Written[]): Uint8Array {
  const layout = tcgPcrEvent2(log.algorithms);
  const parts = records.map(({ pcrIndex, untrustedType, untrustedData, digests }, i) => {
    const head = { pcrIndex, eventType: untrustedType, event: untrustedData };
    if (log.format === "sha1" || i === 0)
      return encode(TCG_PCR_EVENT, { ...head, digest: digests[0]?.digest ?? new Uint8Array(0) });
    return encode(layout, { ...head, digests: [...digests] });
  });
  return new Uint8Array(Buffer.concat(parts));
}

/** The bytes of a log that was read. */
export const writtenLog = (log: EventLog): Uint8Array => written(log, log.records);

/** A log whose digests are those of its data, as firmware writes it; the bytes as they are where they are no log. */
export function withDigests(bytes: Uint8Array): Uint8Array {
  let log: EventLog;
  try {
    log = readEventLog(bytes);
  } catch {
    return bytes;
  }
  const records = log.records.map(({ pcrIndex, untrustedType, untrustedData, digests }, i) => ({
    pcrIndex,
    untrustedType,
    untrustedData,
    digests: digests.map(({ algorithmId, digest }) => {
      const name = i > 0 || log.format === "sha1" ? hashName(algorithmId) : null;
      return { algorithmId, digest: name ? new Uint8Array(createHash(name).update(untrustedData).digest()) : digest };
    }),
  }));
  return written(log, records);
}
