import { digestHex } from "../crypto/hash.ts";
import { EV } from "../formats/eventlog/event-types.ts";
import { type EventLog, EventLogError, readEventLog } from "../formats/eventlog/log.ts";
import { HASH_ALGORITHMS } from "../formats/tpm2/algorithms.ts";
import { authorityChecks } from "./authority.ts";
import { sameBytes, toHex } from "./hex.ts";
import { type BootPolicyProfile, overlaps } from "./profile.ts";
import { countersOf, pcrValue } from "./quote.ts";
import { type LogProblem, replay } from "./replay.ts";
import { type SecureBootFacts, secureBootFacts } from "./secure-boot.ts";
import { type Bank, type Check, codesOf, type Purpose, type Verdict } from "./verdict.ts";

export interface BootInput {
  readonly eventLog: Uint8Array;
  readonly bank: Bank;
  /** The PCRs that the verified quote covers; no other value counts. */
  readonly select: readonly number[];
  /** The values that the verified quote is over: index → hex. */
  readonly pcrs: Readonly<Record<string, string>>;
  /** null: the class names none, or none that is loaded. */
  readonly profile: BootPolicyProfile | null;
  /** True only for evidence that is looked at without a policy: all but the authorities is judged. */
  readonly withoutProfile?: boolean;
  readonly purpose: Purpose;
  /** What the class demands; null where no class is known. */
  readonly secureBoot: "required" | "off" | null;
  /** The report's; null where there is no report. */
  readonly commandLine: string | null;
  /** TPMS_ATTEST of the verified quote, for its counters. */
  readonly attest: Uint8Array | null;
}

/**
 * Judges a boot whose quote has been verified: every reason is found, none is guessed around.
 * @see spec/20-verification.md "Event log", "PCR 7 and boot policy"
 */
export function judgeBoot(input: BootInput): Verdict {
  const quoted = quotedValues(input);
  const checks: Check[] = [zeroCheck(quoted)];
  const { profile } = input;
  if (!profile && input.withoutProfile !== true) {
    checks.push(failed("profile", "profile-missing", "none", "a boot-policy profile of the class"));
  }
  if (profile && profile.bank !== input.bank) {
    checks.push(failed("profile-bank", "quote-invalid", input.bank, profile.bank));
  }
  const log = logOf(input, checks);
  const facts = log && secureBootFacts(log, input.bank);
  if (log && facts) {
    const found = [replayChecks(log, input, quoted), secureBootChecks(facts, input)];
    if (profile) found.push(profileChecks(log, facts, profile, input));
    // One by one: a log of a hundred thousand faults is more than a call's arguments may be.
    for (const check of found.flat()) checks.push(check);
  }
  return {
    result: checks.every((check) => check.ok) ? "pass" : "fail",
    checks,
    codes: codesOf(checks),
    bank: input.bank,
    pcrs: Object.fromEntries(Array.from(quoted, ([pcr, value]) => [String(pcr), toHex(value)])),
    authorities: (facts?.authorities ?? []).map(({ sha256, subject, name, pcr, beforeSeparator }) => {
      return { sha256, subject, name, pcr, beforeSeparator };
    }),
    secureBoot: facts?.secureBoot ?? null,
    dbxHash: facts?.dbxHash ?? null,
    sbatLevel: facts?.sbatLevel ?? null,
    bootProven: input.secureBoot !== "off" && facts?.secureBoot === true,
    profile: profile?.name ?? null,
    purpose: input.purpose,
    counters: input.attest && countersOf(input.attest),
  };
}

function quotedValues(input: BootInput): Map<number, Uint8Array> {
  const selected = [...new Set(input.select)].sort((a, b) => a - b);
  return new Map(
    selected.flatMap((pcr) => {
      const value = pcrValue(input.pcrs, pcr, input.bank);
      return value ? [[pcr, value] as const] : [];
    }),
  );
}

function zeroCheck(quoted: ReadonlyMap<number, Uint8Array>): Check {
  const zero = [0, 7].filter((pcr) => quoted.get(pcr)?.every((octet) => octet === 0) ?? true);
  const expected = "PCR 0 and 7 that firmware extended";
  if (zero.length === 0) return { name: "pcr-zero", ok: true, seen: "extended", expected };
  return failed("pcr-zero", "pcr-zero", `all zeros or not quoted: PCR ${zero.join(", ")}`, expected);
}

function logOf(input: BootInput, checks: Check[]): EventLog | null {
  const name = "event-log";
  if (input.eventLog.length === 0) {
    checks.push(failed(name, "event-log-missing", "no byte", "an event log"));
    return null;
  }
  try {
    const log = readEventLog(input.eventLog);
    if (!log.algorithms.includes(HASH_ALGORITHMS[input.bank])) {
      const seen = log.format === "sha1" ? "a log of SHA-1 digests alone" : "a log without this bank";
      checks.push(failed(name, "event-log-mismatch", seen, `${input.bank} digests`));
      return null;
    }
    checks.push({ name, ok: true, seen: `${log.records.length} records`, expected: "records to the last byte" });
    return log;
  } catch (error) {
    if (!(error instanceof EventLogError)) throw error;
    checks.push(failed(name, "event-log-malformed", error.message, "records to the last byte"));
    return null;
  }
}

function replayChecks(log: EventLog, input: BootInput, quoted: ReadonlyMap<number, Uint8Array>): Check[] {
  const demanded = new Set([0, 1, 2, 3, 4, 5, 6, 7]);
  // A profile reads only what replays: a log could say anything of a PCR that it need not account for.
  for (const event of input.profile?.requiredEvents ?? []) demanded.add(event.pcr);
  if (input.profile && overlaps(input.profile)) demanded.add(9);
  const replayed = replay(log, input.bank, demanded);
  const checks = replayed.problems.map((problem) => problemCheck("replay", problem));
  const zeros = new Uint8Array(input.bank === "sha256" ? 32 : 48);
  const wrong = [...demanded].filter((pcr) => {
    const value = quoted.get(pcr);
    return !value || !sameBytes(value, replayed.pcrs.get(pcr) ?? zeros);
  });
  const expected = "a log that gives the quoted values";
  if (wrong.length === 0) checks.push({ name: "replay", ok: true, seen: `PCR ${[...demanded].join(", ")}`, expected });
  else
    checks.push(failed("replay", "event-log-mismatch", `PCR ${wrong.join(", ")} differ or are not quoted`, expected));
  return checks;
}

function secureBootChecks(facts: SecureBootFacts, input: BootInput): Check[] {
  const checks = facts.problems.map((problem) => problemCheck("pcr7", problem));
  const allowed = input.profile?.allowedActions ?? [];
  for (const { text, record } of facts.actions) {
    const seen = `record ${record.record} at byte ${record.offset}: ${text}`;
    const expected = "no protection turned off";
    if (allowed.includes(text))
      checks.push({ name: "pcr7-action", ok: true, seen, expected: "allowed by the profile" });
    else checks.push(failed("pcr7-action", "secure-boot-mismatch", seen, expected));
  }
  if (facts.problems.length === 0) {
    checks.push({ name: "pcr7", ok: true, seen: "every event known and proven", expected: "known and proven events" });
  }
  const seen = facts.secureBoot === null ? "unknown" : facts.secureBoot ? "on" : "off";
  // Without Secure Boot an authority event is anybody's: where authorities are judged, it is demanded unless a class says else.
  const demanded = input.secureBoot ?? (input.profile ? "required" : null);
  const expected = demanded === null ? "recorded only" : demanded === "required" ? "on" : "off";
  if (demanded === null || seen === expected) checks.push({ name: "secure-boot", ok: true, seen, expected });
  else checks.push(failed("secure-boot", "secure-boot-mismatch", seen, expected));
  if (input.secureBoot === "off") {
    checks.push({
      name: "boot-proven",
      ok: true,
      seen: "nothing: the class asks for no Secure Boot",
      expected: "nothing",
    });
  }
  return checks;
}

function profileChecks(log: EventLog, facts: SecureBootFacts, profile: BootPolicyProfile, input: BootInput): Check[] {
  const checks: Check[] = [];
  // Without Secure Boot nothing names an authority, and the class said that it asks for none.
  if (input.secureBoot !== "off") {
    for (const check of authorityChecks(facts.authorities, facts.dbCertificates, profile, input.purpose)) {
      checks.push(check);
    }
    if (overlaps(profile)) checks.push(commandLineCheck(log, profile, input));
  }
  for (const event of profile.requiredEvents) {
    const found = log.records.some((record) => {
      const measured =
        record.untrustedType === EV.EV_NO_ACTION ? undefined : record.digest(HASH_ALGORITHMS[input.bank]);
      return record.pcrIndex === event.pcr && measured !== undefined && toHex(measured) === event.digest;
    });
    const expected = `${event.digest} in PCR ${event.pcr}${event.note ? ` (${event.note})` : ""}`;
    if (found) checks.push({ name: "required-event", ok: true, seen: "measured", expected });
    else checks.push(failed("required-event", "event-log-mismatch", "not measured", expected));
  }
  return checks;
}

// The kernel's stub measures its LoadOptions first of all in PCR 9; nothing that runs later can come before it.
function commandLineCheck(log: EventLog, profile: BootPolicyProfile, input: BootInput): Check {
  const name = "command-line";
  const [marker, other] =
    input.purpose === "intake" ? [profile.hookosMarker, profile.osMarker] : [profile.osMarker, profile.hookosMarker];
  const code = input.purpose === "intake" ? "not-hookos" : "authority-not-accepted";
  const expected = `a command line with the word ${marker}, measured first in PCR 9`;
  const { commandLine } = input;
  if (commandLine === null) return failed(name, code, "no command line", expected);
  if (!input.select.includes(9)) return failed(name, code, "PCR 9 is not quoted", expected);
  const first = log.records.find((one) => one.pcrIndex === 9 && one.untrustedType !== EV.EV_NO_ACTION);
  const measured = first?.digest(HASH_ALGORITHMS[input.bank]);
  if (!measured || toHex(measured) !== digestHex(input.bank, loadOptions(commandLine))) {
    return failed(name, code, `not what PCR 9 measured first: ${commandLine}`, expected);
  }
  // The kernel's line ends at the first NUL; what is measured behind it, nobody runs by.
  if (commandLine.includes("\0")) return failed(name, code, "a command line with a NUL in it", expected);
  const words = wordsOf(commandLine);
  if (marker === null || !words.includes(marker)) return failed(name, code, commandLine, expected);
  if (other !== null && words.includes(other))
    return failed(name, code, `both stages' words: ${commandLine}`, expected);
  return { name, ok: true, seen: commandLine, expected };
}

/** A command line's words as the kernel parts them: at ASCII white space that no quotation mark holds together. */
function wordsOf(commandLine: string): string[] {
  return commandLine.match(/(?:[^ \t\n\v\f\r"]|"[^"]*(?:"|$))+/g) ?? [];
}

/** A command line as the kernel's stub measures it: UTF-16LE with its terminating NUL. */
export function loadOptions(commandLine: string): Uint8Array {
  const bytes = new Uint8Array(2 * commandLine.length + 2);
  for (let i = 0; i < commandLine.length; i++) {
    bytes[2 * i] = commandLine.charCodeAt(i) & 0xff;
    bytes[2 * i + 1] = commandLine.charCodeAt(i) >> 8;
  }
  return bytes;
}

function problemCheck(name: string, problem: LogProblem): Check {
  const at = problem.record === null ? "" : `record ${problem.record} at byte ${problem.offset}: `;
  return failed(name, problem.code, `${at}${problem.detail}`, "known and proven events");
}

function failed(name: string, code: NonNullable<Check["code"]>, seen: string, expected: string): Check {
  return { name, ok: false, code, seen, expected };
}
