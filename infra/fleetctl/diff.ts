import { diffArrays } from "diff";
import { describeLog, type LogDescription } from "../../shared/attest/describe-log.ts";
import { type Command, JSON_OPTION, UsageError } from "./_command.ts";
import { authorityRow } from "./eventlog.ts";
import { readLogInput } from "./files.ts";
import { columns, plain, secureBootText } from "./text.ts";

const DIFFERENT = 1;
const MALFORMED = 2;

/** How many insertions and deletions are looked for in a PCR's events before they are shown as all new. */
const MAX_EDITS = 2_000;

type Event = { readonly pcr: number; readonly type: string; readonly digest: string; readonly record: number };
type Change<T> = { readonly a: T; readonly b: T };

interface LogDifference {
  readonly same: boolean;
  /** The bank that both logs have, in which events and PCRs are compared. */
  readonly bank: string | null;
  readonly pcrs: readonly ({ readonly pcr: number } & Change<string | null>)[];
  readonly removed: readonly Event[];
  readonly added: readonly Event[];
  readonly authorities: {
    readonly removed: LogDescription["authorities"];
    readonly added: LogDescription["authorities"];
  };
  readonly secureBoot: Change<boolean | null> | null;
  readonly dbxHash: Change<string | null> | null;
  readonly sbatLevel: Change<string | null> | null;
  readonly kernelCommandLine: Change<string | null> | null;
}

/** What differs between two event logs. @see spec/60-operator.md */
export const diff: Command = {
  name: "diff",
  operands: "A B",
  summary: "show what differs between two event logs",
  details: [
    "Compares two event logs (or those of two evidence bundles): PCR values, events by PCR, authorities, Secure Boot,",
    "dbx, SbatLevel and the command line; by the strongest bank that both have.",
    "With --json: one object, {same, bank, pcrs [{pcr, a, b}], removed, added [{pcr, type, digest, record}],",
    "authorities {removed, added}} and, for secureBoot, dbxHash, sbatLevel, kernelCommandLine, {a, b} or null.",
  ].join("\n"),
  options: { json: JSON_OPTION },
  exitCodes: { 0: "they say the same", [DIFFERENT]: "they differ", [MALFORMED]: "one is malformed" },
  async run(args, io) {
    const [fileA, fileB, ...more] = args.files;
    if (fileA === undefined || fileB === undefined || more.length > 0) throw new UsageError("two files");
    const read: LogDescription[] = [];
    for (const file of [fileA, fileB]) {
      const bytes = await readLogInput(file);
      const log = typeof bytes === "string" ? null : describeLog(bytes);
      if (log?.readable) read.push(log);
      else io.err(`fleetctl diff: ${plain(file)}: ${log ? (log.problems[0]?.detail ?? "malformed") : bytes}`);
    }
    const [a, b] = read;
    if (!a || !b) return MALFORMED;
    const difference = compare(a, b);
    if (args.flag("json")) io.out(JSON.stringify(difference));
    else for (const line of differenceText(difference)) io.out(line);
    return difference.same ? 0 : DIFFERENT;
  },
};

function compare(a: LogDescription, b: LogDescription): LogDifference {
  const bank = ["sha512", "sha384", "sha256", "sha1"].find((one) => a.pcrs[one] && b.pcrs[one]) ?? null;
  const difference = {
    bank,
    pcrs: bank === null ? [] : differentPcrs(a.pcrs[bank] ?? {}, b.pcrs[bank] ?? {}),
    ...eventChanges(a, b, bank),
    authorities: {
      removed: authoritiesMissing(a, b),
      added: authoritiesMissing(b, a),
    },
    secureBoot: change(a.secureBoot, b.secureBoot),
    dbxHash: change(a.dbxHash, b.dbxHash),
    sbatLevel: change(a.sbatLevel, b.sbatLevel),
    kernelCommandLine: change(a.kernelCommandLine, b.kernelCommandLine),
  };
  const { removed, added, pcrs } = difference;
  const facts = [difference.secureBoot, difference.dbxHash, difference.sbatLevel, difference.kernelCommandLine];
  const changed = removed.length + added.length + pcrs.length > 0 || facts.some((one) => one !== null);
  return { same: !changed && bank !== null, ...difference };
}

function differentPcrs(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): LogDifference["pcrs"] {
  const pcrs = [...new Set([...Object.keys(a), ...Object.keys(b)].map(Number))].sort((x, y) => x - y);
  return pcrs.flatMap((pcr) => {
    const values = { a: a[pcr] ?? null, b: b[pcr] ?? null };
    return values.a === values.b ? [] : [{ pcr, ...values }];
  });
}

function eventChanges(
  a: LogDescription,
  b: LogDescription,
  bank: string | null,
): Pick<LogDifference, "removed" | "added"> {
  const [before, after] = [eventsByPcr(a, bank), eventsByPcr(b, bank)];
  const removed: Event[] = [];
  const added: Event[] = [];
  for (const pcr of [...new Set([...before.keys(), ...after.keys()])].sort((x, y) => x - y)) {
    const [old, now] = [before.get(pcr) ?? [], after.get(pcr) ?? []];
    const comparator = (x: Event, y: Event) => x.type === y.type && x.digest === y.digest;
    const parts = diffArrays(old, now, { comparator, maxEditLength: MAX_EDITS });
    for (const one of parts ? parts.flatMap((part) => (part.removed ? part.value : [])) : old) removed.push(one);
    for (const one of parts ? parts.flatMap((part) => (part.added ? part.value : [])) : now) added.push(one);
  }
  return { removed, added };
}

function eventsByPcr(log: LogDescription, bank: string | null): Map<number, Event[]> {
  const events = new Map<number, Event[]>();
  for (const { pcr, type, digests, record } of log.records) {
    const event = { pcr, type, digest: (bank !== null && digests[bank]) || "", record };
    const known = events.get(pcr);
    if (known) known.push(event);
    else events.set(pcr, [event]);
  }
  return events;
}

function authoritiesMissing(from: LogDescription, other: LogDescription): LogDescription["authorities"] {
  const key = (one: LogDescription["authorities"][number]) =>
    [one.sha256, one.name, one.pcr, one.beforeSeparator].join(" ");
  const there = new Set(other.authorities.map(key));
  return from.authorities.filter((one) => !there.has(key(one)));
}

function change<T>(a: T, b: T): Change<T> | null {
  return a === b ? null : { a, b };
}

function differenceText(difference: LogDifference): string[] {
  if (difference.same) return [`the same, in ${difference.bank}`];
  if (difference.bank === null) return ["no bank that both have"];
  const fact = (name: string, one: Change<string | null> | null) =>
    one === null ? [] : [[name, plain(one.a ?? "not told"), "→", plain(one.b ?? "not told")]];
  const secureBoot = difference.secureBoot && {
    a: secureBootText(difference.secureBoot.a),
    b: secureBootText(difference.secureBoot.b),
  };
  const event = (sign: string) => (one: Event) => [
    sign,
    `PCR ${one.pcr}`,
    one.type,
    `record ${one.record}`,
    one.digest,
  ];
  return [
    `they differ, in ${difference.bank}`,
    ...columns([
      ...fact("Secure Boot", secureBoot),
      ...fact("dbx", difference.dbxHash),
      ...fact("SbatLevel", difference.sbatLevel),
      ...fact("command line", difference.kernelCommandLine),
      ...difference.pcrs.flatMap((one) => fact(`PCR ${one.pcr}`, one)),
    ]),
    ...columns([
      ...difference.authorities.removed.map((one) => ["-", ...authorityRow(one)]),
      ...difference.authorities.added.map((one) => ["+", ...authorityRow(one)]),
    ]),
    ...columns([...difference.removed.map(event("-")), ...difference.added.map(event("+"))]),
  ];
}
