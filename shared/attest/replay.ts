import { DIGEST_BYTES, type HashName, PcrRegister } from "../crypto/hash.ts";
import { decode } from "../formats/codec.ts";
import { FormatError } from "../formats/error.ts";
import { EV } from "../formats/eventlog/event-types.ts";
import { isStartupLocality, STARTUP_LOCALITY } from "../formats/eventlog/events/startup-locality.ts";
import type { EventLog, EventRecord } from "../formats/eventlog/log.ts";
import { HASH_ALGORITHMS } from "../formats/tpm2/algorithms.ts";
import type { RefusalCode } from "./verdict.ts";

/** A reason why a log is not believed, with the record that gives it. */
export interface LogProblem {
  readonly code: RefusalCode;
  readonly record: number | null;
  readonly offset: number | null;
  readonly detail: string;
}

export interface Replay {
  /** The PCRs that the log extends, as it leaves them. */
  readonly pcrs: ReadonlyMap<number, Uint8Array>;
  /** The locality that PCR 0 started from. */
  readonly startupLocality: number;
  readonly problems: readonly LogProblem[];
}

/** One is enough to refuse a log. */
const MAX_PROBLEMS = 64;

/**
 * The PCR values that a log accounts for, in one of its banks; of all PCRs, or of those that are wanted. EV_NO_ACTION
 * is never extended; PCR 0 starts at the locality of a StartupLocality event before its first measurement, and such an
 * event elsewhere is a reason to refuse.
 * @see TCG PC Client Platform Firmware Profile, 10.4.5.3
 */
export function replay(log: EventLog, bank: HashName, wanted?: ReadonlySet<number>): Replay {
  const registers = new Map<number, PcrRegister>();
  const problems: LogProblem[] = [];
  let startupLocality: number | null = null;
  for (const record of log.records) {
    if (record.untrustedType === EV.EV_NO_ACTION) {
      if (problems.length === MAX_PROBLEMS || !isStartupLocality(record.untrustedData)) continue;
      const read = localityOf(record);
      if (typeof read !== "number") problems.push(read);
      else if (startupLocality !== null) problems.push(problem(record, "a second StartupLocality event"));
      else if (record.pcrIndex !== 0)
        problems.push(problem(record, `a StartupLocality event of PCR ${record.pcrIndex}`));
      else if (registers.has(0)) problems.push(problem(record, "a StartupLocality event after a measurement of PCR 0"));
      else startupLocality = read;
      continue;
    }
    if (wanted?.has(record.pcrIndex) === false) continue;
    const extended = record.digest(HASH_ALGORITHMS[bank]);
    if (!extended) continue;
    let register = registers.get(record.pcrIndex);
    if (!register) {
      register = new PcrRegister(bank, startOf(record.pcrIndex, startupLocality ?? 0, bank));
      registers.set(record.pcrIndex, register);
    }
    register.extend(extended);
  }
  const pcrs = new Map(Array.from(registers, ([pcr, register]) => [pcr, register.value()]));
  return { pcrs, startupLocality: startupLocality ?? 0, problems };
}

function startOf(pcr: number, locality: number, bank: HashName): Uint8Array {
  const start = new Uint8Array(DIGEST_BYTES[bank]);
  if (pcr === 0) start[start.length - 1] = locality;
  return start;
}

function localityOf(record: EventRecord): number | LogProblem {
  try {
    return decode(STARTUP_LOCALITY, record.untrustedData, "TCG_EfiStartupLocalityEvent").startupLocality;
  } catch (error) {
    if (error instanceof FormatError) return problem(record, error.message);
    throw error;
  }
}

function problem(record: EventRecord, detail: string): LogProblem {
  return { code: "event-log-malformed", record: record.record, offset: record.offset, detail };
}
