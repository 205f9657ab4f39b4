import { digest, type HashName } from "../crypto/hash.ts";
import { EV, eventTypeName } from "../formats/eventlog/event-types.ts";
import { type EventLog, EventLogError, type EventRecord, readEventLog } from "../formats/eventlog/log.ts";
import { HASH_ALGORITHMS, HASH_NAMES, hashName } from "../formats/tpm2/algorithms.ts";
import { toHex } from "./hex.ts";
import { type LogProblem, replay } from "./replay.ts";
import { secureBootFacts } from "./secure-boot.ts";
import type { Authority } from "./verdict.ts";

/** What a log says, for people and tools. @see spec/20-verification.md "Evidence bundles" */
export interface LogDescription {
  readonly readable: boolean;
  /** Whether a policy could judge it: well-formed, with a SHA-2 bank, and nothing of PCR 7 to refuse. */
  readonly fitForPolicy: boolean;
  readonly banks: readonly string[];
  /** bank → index → hex */
  readonly pcrs: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly records: readonly {
    readonly record: number;
    readonly offset: number;
    readonly pcr: number;
    readonly type: string;
    /** bank → hex */
    readonly digests: Readonly<Record<string, string>>;
    readonly dataBytes: number;
  }[];
  readonly secureBoot: boolean | null;
  readonly authorities: readonly Authority[];
  readonly dbxHash: string | null;
  readonly sbatLevel: string | null;
  readonly kernelCommandLine: string | null;
  readonly problems: readonly LogProblem[];
}

/** Describes a log, whatever it is. */
export function describeLog(bytes: Uint8Array): LogDescription {
  let log: EventLog;
  try {
    log = readEventLog(bytes);
  } catch (error) {
    if (!(error instanceof EventLogError)) throw error;
    const code = bytes.length === 0 ? "event-log-missing" : "event-log-malformed";
    return unreadable({ code, record: error.record, offset: error.offset, detail: error.message });
  }
  const banks = HASH_NAMES.filter((bank) => log.algorithms.includes(HASH_ALGORITHMS[bank]));
  const bank = (["sha256", "sha384", "sha512", "sha1"] as const).find((one) => banks.includes(one)) ?? "sha1";
  const replayed = banks.map((one) => [one, replay(log, one)] as const);
  const facts = secureBootFacts(log, bank);
  const problems = [...(replayed.find(([one]) => one === bank)?.[1].problems ?? []), ...facts.problems];
  if (bank === "sha1") {
    problems.unshift({ code: "event-log-mismatch", record: null, offset: null, detail: "SHA-1 digests alone" });
  }
  return {
    readable: true,
    fitForPolicy: problems.length === 0 && facts.actions.length === 0,
    banks: log.algorithms.map((one) => hashName(one) ?? `0x${one.toString(16)}`),
    pcrs: Object.fromEntries(
      replayed.map(([one, { pcrs }]) => [
        one,
        Object.fromEntries(Array.from(pcrs, ([pcr, value]) => [String(pcr), toHex(value)])),
      ]),
    ),
    records: log.records.map(describeRecord),
    secureBoot: facts.secureBoot,
    authorities: facts.authorities.map(({ sha256, subject, name, pcr, beforeSeparator }) => {
      return { sha256, subject, name, pcr, beforeSeparator };
    }),
    dbxHash: facts.dbxHash,
    sbatLevel: facts.sbatLevel,
    kernelCommandLine: kernelCommandLine(log, bank),
    problems,
  };
}

function describeRecord(record: EventRecord): LogDescription["records"][number] {
  const digests = record.digests.map(({ algorithmId, digest: value }) => [
    hashName(algorithmId) ?? `0x${algorithmId.toString(16)}`,
    toHex(value),
  ]);
  return {
    record: record.record,
    offset: record.offset,
    pcr: record.pcrIndex,
    type: eventTypeName(record.untrustedType),
    digests: Object.fromEntries(digests),
    dataBytes: record.untrustedData.length,
  };
}

/** Of GRUB since 2.06, and before. */
const GRUB_PREFIXES = ["kernel_cmdline: ", "grub_kernel_cmdline "];

// GRUB logs the text behind a prefix and measures the text alone; the kernel's stub logs a digest and no text.
function kernelCommandLine(log: EventLog, bank: HashName): string | null {
  let found: string | null = null;
  for (const record of log.records) {
    if (record.pcrIndex !== 8 || record.untrustedType !== EV.EV_IPL) continue;
    const logged = new TextDecoder().decode(record.untrustedData).replace(/\0$/, "");
    const prefix = GRUB_PREFIXES.find((one) => logged.startsWith(one));
    if (prefix === undefined) continue;
    const text = logged.slice(prefix.length);
    const measured = record.digest(HASH_ALGORITHMS[bank]);
    const proven = measured && toHex(measured) === toHex(digest(bank, new TextEncoder().encode(text)));
    if (proven) found = text;
  }
  return found;
}

function unreadable(problem: LogProblem): LogDescription {
  return {
    readable: false,
    fitForPolicy: false,
    banks: [],
    pcrs: {},
    records: [],
    secureBoot: null,
    authorities: [],
    dbxHash: null,
    sbatLevel: null,
    kernelCommandLine: null,
    problems: [problem],
  };
}
