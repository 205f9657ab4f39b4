import { bytes, decode, list, sized, struct, type TypeOf, u8, u16le, u32le } from "../codec.ts";
import { eachOnce, outline, readAt } from "../codec-outline.ts";
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
  /** One for each algorithm of the log. */
  readonly digests: readonly { readonly algorithmId: number; readonly digest: Uint8Array }[];
  /** The digest by that TPM_ALG_ID. */
  digest(algorithm: number): Uint8Array | undefined;
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
const SHA1 = 0x0004;

const EVENT_DATA = sized(u32le, 0xffffffff);

/** TCG_PCR_EVENT2 with digests of these algorithms. @see TCG PC Client Platform Firmware Profile, 10.2.2 */
export function tcgPcrEvent2(algorithms: readonly number[]) {
  return struct({ pcrIndex: u32le, eventType: u32le, digests: digestValues(algorithms), event: EVENT_DATA });
}

/** TPML_DIGEST_VALUES of a log: one digest for each algorithm of its header. */
function digestValues(algorithms: readonly number[]) {
  const lengths = new Map(algorithms.map((algorithm) => [algorithm, DIGEST_BYTES[algorithm] ?? 0]));
  return eachOnce(u32le, ["algorithmId", u16le], "digest", lengths);
}

/**
 * Reads a whole log, crypto-agile or SHA-1 only.
 * @throws EventLogError
 * @see TCG PC Client Platform Firmware Profile, 10.2
 */
export function readEventLog(log: Uint8Array): EventLog {
  const cursor = new ReadCursor(log, "eventlog");
  const first = at(0, 0, TCG_PCR_EVENT.read, cursor);
  if (!isSpecId({ untrustedType: first.eventType, untrustedData: first.event })) return readSha1Log(log);
  if (first.pcrIndex !== 0) throw new EventLogError(0, 0, "a Spec ID event of another PCR");
  const specId = at(0, 0, (event) => decode(TCG_EFI_SPEC_ID_EVENT, event, "TCG_EfiSpecIdEvent"), first.event);
  const algorithms = specId.algorithms.map((one) => one.algorithmId);
  if (algorithms.length === 0) throw new EventLogError(0, 0, "no algorithm");
  if (new Set(algorithms).size !== algorithms.length) throw new EventLogError(0, 0, "an algorithm twice");
  for (const { algorithmId, digestSize } of specId.algorithms) {
    if (DIGEST_BYTES[algorithmId] === digestSize) continue;
    throw new EventLogError(0, 0, `algorithm 0x${algorithmId.toString(16)} of ${digestSize} bytes`);
  }
  const records: EventRecord[] = [
    eventRecord(0, 0, first.pcrIndex, first.eventType, first.event, [{ algorithmId: SHA1, digest: first.digest }]),
  ];
  const read = outline(tcgPcrEvent2(algorithms), ["pcrIndex", "eventType"]);
  const values = digestValues(algorithms);
  while (cursor.offset < log.length) {
    const offset = cursor.offset;
    const event = at(records.length, offset, read, cursor);
    checkPcr(records.length, offset, event.pcrIndex, event.eventType);
    const record = new Event2Record(log, values, records.length, offset, event);
    if (isSpecId(record)) throw new EventLogError(records.length, offset, "a second Spec ID event");
    records.push(record);
  }
  return { format: "crypto-agile", specId, algorithms, records };
}

function readSha1Log(log: Uint8Array): EventLog {
  const cursor = new ReadCursor(log, "eventlog");
  const records: EventRecord[] = [];
  while (cursor.offset < log.length) {
    const offset = cursor.offset;
    const { pcrIndex, eventType, digest, event } = at(records.length, offset, TCG_PCR_EVENT.read, cursor);
    checkPcr(records.length, offset, pcrIndex, eventType);
    const record = eventRecord(records.length, offset, pcrIndex, eventType, event, [{ algorithmId: SHA1, digest }]);
    if (isSpecId(record)) throw new EventLogError(records.length, offset, "a late Spec ID event");
    records.push(record);
  }
  return { format: "sha1", specId: null, algorithms: [SHA1], records };
}

type Digests = EventRecord["digests"];

// A log has thousands of records, of which a policy reads the digests of one bank and the data of a few.
class Event2Record implements EventRecord {
  readonly record: number;
  readonly offset: number;
  readonly pcrIndex: number;
  readonly untrustedType: number;
  private readonly log: Uint8Array;
  private readonly values: ReturnType<typeof digestValues>;
  private readonly digestsAt: number;
  private readonly eventAt: number;

  constructor(
    log: Uint8Array,
    values: ReturnType<typeof digestValues>,
    record: number,
    offset: number,
    event: { readonly pcrIndex: number; readonly eventType: number; readonly digests: number; readonly event: number },
  ) {
    this.log = log;
    this.values = values;
    this.record = record;
    this.offset = offset;
    this.pcrIndex = event.pcrIndex;
    this.untrustedType = event.eventType;
    this.digestsAt = event.digests;
    this.eventAt = event.event;
  }

  get untrustedData(): Uint8Array {
    return readAt(EVENT_DATA, this.log, this.eventAt, "event");
  }

  get digests(): Digests {
    return readAt(this.values, this.log, this.digestsAt, "digests");
  }

  digest(algorithm: number): Uint8Array | undefined {
    return this.values.find(this.log, this.digestsAt, algorithm);
  }
}

function eventRecord(
  record: number,
  offset: number,
  pcrIndex: number,
  untrustedType: number,
  untrustedData: Uint8Array,
  digests: Digests,
): EventRecord {
  const digest = (algorithm: number) => digests.find((one) => one.algorithmId === algorithm)?.digest;
  return { record, offset, pcrIndex, untrustedType, untrustedData, digests, digest };
}

function checkPcr(record: number, offset: number, pcrIndex: number, untrustedType: number): void {
  if (pcrIndex > 23 && !(pcrIndex === NO_PCR && untrustedType === EV.EV_NO_ACTION)) {
    throw new EventLogError(record, offset, `PCR index ${pcrIndex}`);
  }
}

function isSpecId(record: Pick<EventRecord, "untrustedType" | "untrustedData">): boolean {
  if (record.untrustedType !== EV.EV_NO_ACTION) return false;
  const { untrustedData } = record;
  return SPEC_ID_SIGNATURE.every((octet, i) => untrustedData[i] === octet);
}

function at<S, T>(record: number, offset: number, read: (source: S) => T, source: S): T {
  try {
    return read(source);
  } catch (error) {
    if (error instanceof FormatError) throw new EventLogError(record, offset, error.message);
    throw error;
  }
}
