import type { Model } from "../scenarios/model.ts";

/** What the lines of a pass did to the world: neither records nor journal. */
export const acts = (lines: readonly string[]): string[] =>
  lines.filter((l) => !l.startsWith("record: ") && !l.startsWith("journal "));

/** The JournalEntries that the lines of a pass wrote. */
export const said = (lines: readonly string[]): string[] => lines.filter((l) => l.startsWith("journal "));

/** The record's conditions. */
export const conditions = (m: Model): string[] => m.record.conditions.map((c) => `${c.type}/${c.reason}`);

/** Workflows made or enabled: none of them may follow where nothing is to be run. */
export const runs = (lines: readonly string[]): string[] =>
  lines.filter((l) => l.startsWith("create Workflow") || l.startsWith("enable Workflow"));

/** All lines so far that hold the words. */
export const times = (m: Model, words: string): number => m.lines.filter((l) => l.includes(words)).length;
