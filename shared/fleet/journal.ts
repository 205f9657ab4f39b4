import { CONDITIONS, type Condition } from "./condition.ts";
import type { JournalLevel } from "./device.ts";
import type { DeviceRecord } from "./record.ts";
import type { ConditionRecord, JournalRecord } from "./said-record.ts";

/** Lines kept in a record after they were sent: enough for a device's timeline. */
const KEPT_LINES = 60;

/** Something that happened, with the words of its JournalEntry. `about` and `code` make it be said once. */
export interface Happening {
  readonly level: JournalLevel;
  readonly code: string;
  readonly text: string;
  readonly about: string;
}

/** 53-bit FNV-style mix of a string, as hex: a mark is a name, not a proof. */
function mix(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x85ebca6b);
  }
  return (a >>> 0).toString(16).padStart(8, "0") + (b >>> 0).toString(16).padStart(8, "0");
}

/** The mark at the end of a JournalEntry by which it is found again (spec/30, "Conditions and the journal"). */
export function journalMark(deviceId: number, about: string, code: string): string {
  return `[fleetd ${mix(`${deviceId}\n${about}\n${code}`)}]`;
}

/** Markdown's marks made harmless; an underscore within a word is none. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*[\]<>|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, "\\$&").replace(/\p{Cc}+/gu, " ");
}

/** Adds lines that the record does not hold yet; one that was said for the same thing is not said again. */
export function withJournal(record: DeviceRecord, happenings: readonly Happening[], nowMs: number): DeviceRecord {
  const known = new Set(record.journal.map((l) => l.mark));
  const lines: JournalRecord[] = [];
  for (const h of happenings) {
    const mark = journalMark(record.deviceId, h.about, h.code);
    if (known.has(mark)) continue;
    known.add(mark);
    lines.push({ mark, level: h.level, code: h.code, text: escapeMarkdown(h.text), dueAtMs: nowMs, sent: false });
  }
  if (lines.length === 0) return record;
  const all = [...record.journal, ...lines];
  const sentTooMany = all.filter((l) => l.sent).length - KEPT_LINES;
  let dropped = 0;
  return { ...record, journal: all.filter((l) => !(l.sent && dropped < sentTooMany && ++dropped > 0)) };
}

/**
 * Sets the record's conditions to those given: `since` of one that stays is kept, one that turned true gets its line.
 * A line is due in the same write as its condition, so that neither can be lost alone.
 */
export function withConditions(record: DeviceRecord, conditions: readonly Condition[], nowMs: number): DeviceRecord {
  const same = (a: { type: string; reason: string; about: string }, b: ConditionRecord) =>
    a.type === b.type && a.reason === b.reason && a.about === b.about;
  const next: ConditionRecord[] = conditions.map((c) => ({
    type: c.type,
    reason: c.reason,
    message: c.message,
    about: c.about,
    sinceMs: record.conditions.find((old) => same(c, old))?.sinceMs ?? nowMs,
  }));
  const unchanged =
    next.length === record.conditions.length &&
    next.every((c, i) => {
      const old = record.conditions[i];
      return old !== undefined && same(c, old) && c.message === old.message;
    });
  // One that stays was said when it turned true; its line may have left the record since.
  const happenings = conditions.flatMap((c): Happening[] => {
    const level = CONDITIONS[c.type].level;
    return level === null || record.conditions.some((old) => same(c, old))
      ? []
      : [{ level, code: `${c.type}/${c.reason}`, text: c.message, about: c.about }];
  });
  return withJournal(unchanged ? record : { ...record, conditions: next }, happenings, nowMs);
}
