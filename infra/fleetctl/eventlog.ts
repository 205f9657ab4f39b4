import { describeLog, type LogDescription } from "../../shared/attest/describe-log.ts";
import type { Authority } from "../../shared/attest/verdict.ts";
import { type Command, JSON_OPTION, UsageError } from "./_command.ts";
import { readLogInput } from "./files.ts";
import { columns, plain, secureBootText } from "./text.ts";

const NOT_FIT = 1;
const MALFORMED = 2;

/** What a log says. @see spec/20-verification.md "Evidence bundles" */
export const eventlog: Command = {
  name: "eventlog",
  operands: "FILE",
  summary: "show what a TCG event log says",
  details: [
    "Reads a firmware's event log (binary_bios_measurements) or the one in an evidence bundle. It proves nothing by",
    "itself: only a quote says that a log is true.",
    "With --json: one object, {banks, pcrs, records, secureBoot, authorities, dbxHash, sbatLevel, kernelCommandLine,",
    "problems}.",
  ].join("\n"),
  options: { json: JSON_OPTION },
  exitCodes: {
    0: "readable and well-formed",
    [NOT_FIT]: "well-formed, but not fit for policy",
    [MALFORMED]: "malformed",
  },
  async run(args, io) {
    const [file, ...more] = args.files;
    if (file === undefined || more.length > 0) throw new UsageError("one file");
    const bytes = await readLogInput(file);
    if (typeof bytes === "string") {
      io.err(`fleetctl eventlog: ${plain(file)}: ${bytes}`);
      return MALFORMED;
    }
    const { readable, fitForPolicy, ...said } = describeLog(bytes);
    if (args.flag("json")) io.out(JSON.stringify(said));
    else for (const line of logText(file, { readable, fitForPolicy, ...said })) io.out(line);
    return !readable ? MALFORMED : !fitForPolicy ? NOT_FIT : 0;
  },
};

function logText(file: string, log: LogDescription): string[] {
  const state = !log.readable ? "malformed" : log.fitForPolicy ? "well-formed" : "well-formed, not fit for policy";
  return [
    `${plain(file)}: ${state}`,
    ...section(
      "problems",
      log.problems.map((one) => [at(one.record, one.offset), one.code, plain(one.detail)]),
    ),
    ...(log.readable ? facts(log) : []),
  ];
}

function facts(log: LogDescription): string[] {
  return [
    ...columns([
      ["banks", log.banks.join(", ")],
      ["Secure Boot", secureBootText(log.secureBoot)],
      ["dbx", log.dbxHash ?? "not told"],
      ["SbatLevel", log.sbatLevel ?? "not told"],
      ["command line", log.kernelCommandLine === null ? "not in the log" : plain(log.kernelCommandLine)],
    ]),
    ...section("authorities", log.authorities.map(authorityRow)),
    ...Object.entries(log.pcrs).flatMap(([bank, pcrs]) => section(`PCRs, ${bank}`, Object.entries(pcrs))),
    ...section(
      "records",
      log.records.map((one) => {
        const [bank, digest] = Object.entries(one.digests).at(-1) ?? ["", ""];
        return [at(one.record, one.offset), `PCR ${one.pcr}`, one.type, `${one.dataBytes} bytes`, `${bank} ${digest}`];
      }),
    ),
  ];
}

export function authorityRow(one: Authority): string[] {
  const order = one.beforeSeparator ? "before the separator" : "after the separator";
  return [`PCR ${one.pcr}`, plain(one.name), order, one.sha256, plain(one.subject ?? "no certificate")];
}

function at(record: number | null, offset: number | null): string {
  return record === null ? "the log" : `record ${record} at byte ${offset}`;
}

function section(title: string, rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : [title, ...columns(rows)];
}
