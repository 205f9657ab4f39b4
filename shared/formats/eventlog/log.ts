import { bytes, decode, type Layout, list, sized, struct, type TypeOf, tagged, u8, u16le, u32le } from "../codec.ts";
import { ReadCursor } from "../cursor.ts";
import { FormatError } from "../error.ts";
import { DIGEST_BYTES } from "../tpm2/algorithms.ts";
import { EV } from "./event-types.ts";

/** TCG_PCR_EVENT: SHA-1 alone. @see TCG PC Client Platform Firmware Profile, 10.2.1 */
export const TCG_PCR_EVENT = struct({
  pcrIndex: u32le,
  eventType: u32le,
  digest: bytes(20),
  event: sized(u32le, 0xffffffff),
});

const ALGORITHM_SIZE = struct({ algorithmId: u16le, digestSize: u16le });

/** TCG_EfiSpecIdEvent behind its signature. @see TCG PC Client Platform Firmware Profile, 10.4.5.1 */
export const TCG_EFI_SPEC_ID_EVENT = struct({
  signature: bytes(16),
  platformClass: u32le,
  specVersionMinor: u8,
  specVersionMajor: u8,
  specErrata: u8,
  uintnSize: u8,
  algorithms: list(u32le, ALGORITHM_SIZE, 16),
  vendorInfo: sized(u8, 255),
});
export type SpecIdEvent = TypeOf<typeof TCG_EFI_SPEC_ID_EVENT>;

export const SPEC_ID_SIGNATURE = new TextEncoder().encode("Spec ID Event03\0");

/** One record of a log; its type is under no digest, and its data only where a digest is shown to be the data's. */
export interface EventRecord {
  /** Counted from 0, the header included. */
  readonly record: number;
  readonly offset: number;
  readonly pcrIndex: number;
  readonly untrustedType: number;
  readonly untrustedData: Uint8Array;
  /** TPM_ALG_ID → digest. */
  readonly digests: ReadonlyMap<number, Uint8Array>;
}

export interface EventLog {
  readonly format: "crypto-agile" | "sha1";
  readonly specId: SpecIdEvent | null;
  /** TPM_ALG_IDs, as the header announces them. */
  readonly algorithms: readonly number[];
  readonly records: readonly EventRecord[];
}

/** A log that is none: which record, and where. */
export class EventLogError extends Error {
  override readonly name = "EventLogError";
  readonly record: number;
  readonly offset: number;

  constructor(record: number, offset: number, detail: string) {
    super(`record ${record} at byte ${offset}: ${detail}`);
    this.record = record;
    this.offset = offset;
  }
}

const NO_PCR = 0xffffffff;

type Event2 = TypeOf<ReturnType<typeof tcgPcrEvent2>>;

/** TCG_PCR_EVENT2 with digests of these algorithms. @see TCG PC Client Platform Firmware Profile, 10.2.2 */
export function tcgPcrEvent2(algorithms: readonly number[]) {
  const cases: Record<number, Layout<{ digest: Uint8Array }>> = {};
  for (const algorithm of algorithms) cases[algorithm] = struct({ digest: bytes(DIGEST_BYTES[algorithm] ?? 0) });
  return struct({
    pcrIndex: u32le,
    eventType: u32le,
    digests: list(u32le, tagged("algorithmId", u16le, cases), algorithms.length),
    event: sized(u32le, 0xffffffff),
  });
}

/**
 * Reads a whole log, crypto-agile or SHA-1 only.
 * @throws EventLogError
 * @see TCG PC Client Platform Firmware Profile, 10.2
 */
export function readEventLog(log: Uint8Array): EventLog {
  const cursor = new ReadCursor(log, "eventlog");
  const first = at(0, 0, () => TCG_PCR_EVENT.read(cursor));
  if (!isSpecId(first.eventType, first.event)) return readSha1Log(log);
  if (first.pcrIndex !== 0) throw new EventLogError(0, 0, "a Spec ID event of another PCR");
  const specId = at(0, 0, () => decode(TCG_EFI_SPEC_ID_EVENT, first.event, "TCG_EfiSpecIdEvent"));
  const algorithms = specId.algorithms.map((one) => one.algorithmId);
  if (algorithms.length === 0) throw new EventLogError(0, 0, "no algorithm");
  if (new Set(algorithms).size !== algorithms.length) throw new EventLogError(0, 0, "an algorithm twice");
  for (const { algorithmId, digestSize } of specId.algorithms) {
    if (DIGEST_BYTES[algorithmId] === digestSize) continue;
    throw new EventLogError(0, 0, `algorithm 0x${algorithmId.toString(16)} of ${digestSize} bytes`);
  }
  const header = new Map([[0x0004, first.digest]]);
  const records = [recordOf(0, 0, first.pcrIndex, first.eventType, first.event, header)];
  const layout = tcgPcrEvent2(algorithms);
  while (cursor.offset < log.length) {
    const offset = cursor.offset;
    const event = at(records.length, offset, () => layout.read(cursor));
    const digests = digestsOf(event, algorithms, records.length, offset);
    if (isSpecId(event.eventType, event.event)) {
      throw new EventLogError(records.length, offset, "a second Spec ID event");
    }
    records.push(recordOf(records.length, offset, event.pcrIndex, event.eventType, event.event, digests));
  }
  return { format: "crypto-agile", specId, algorithms, records };
}

function readSha1Log(log: Uint8Array): EventLog {
  const cursor = new ReadCursor(log, "eventlog");
  const records: EventRecord[] = [];
  while (cursor.offset < log.length) {
    const offset = cursor.offset;
    const event = at(records.length, offset, () => TCG_PCR_EVENT.read(cursor));
    if (isSpecId(event.eventType, event.event)) throw new EventLogError(records.length, offset, "a late Spec ID event");
    const digests = new Map([[0x0004, event.digest]]);
    records.push(recordOf(records.length, offset, event.pcrIndex, event.eventType, event.event, digests));
  }
  return { format: "sha1", specId: null, algorithms: [0x0004], records };
}

function digestsOf(
  event: Event2,
  algorithms: readonly number[],
  record: number,
  offset: number,
): Map<number, Uint8Array> {
  const digests = new Map<number, Uint8Array>();
  for (const { algorithmId, digest } of event.digests) digests.set(algorithmId, digest);
  if (event.digests.length !== algorithms.length || digests.size !== algorithms.length) {
    throw new EventLogError(record, offset, `${event.digests.length} digests, not one of each algorithm of the header`);
  }
  return digests;
}

function recordOf(
  record: number,
  offset: number,
  pcrIndex: number,
  untrustedType: number,
  untrustedData: Uint8Array,
  digests: ReadonlyMap<number, Uint8Array>,
): EventRecord {
  if (pcrIndex > 23 && !(pcrIndex === NO_PCR && untrustedType === EV.EV_NO_ACTION)) {
    throw new EventLogError(record, offset, `PCR index ${pcrIndex}`);
  }
  return { record, offset, pcrIndex, untrustedType, untrustedData, digests };
}

function isSpecId(type: number, data: Uint8Array): boolean {
  return type === EV.EV_NO_ACTION && SPEC_ID_SIGNATURE.every((octet, i) => data[i] === octet);
}

function at<T>(record: number, offset: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof FormatError) throw new EventLogError(record, offset, error.message);
    throw error;
  }
}
