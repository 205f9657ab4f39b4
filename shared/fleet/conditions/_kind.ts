import type { JournalLevel } from "../device.ts";

/** owner: who has the device in NetBox. operator: who runs fleetd, its peers and its files in git. */
export type Actor = "owner" | "operator" | "machine" | "fleetd";

/** One reason of a condition, in sentences for `explain`, the page and infra/docs/conditions.md. */
export interface Reason {
  readonly means: string;
  readonly who: Actor;
  readonly clears: string;
}

export interface ConditionKind<Name extends string = string> {
  readonly means: string;
  /** Level of its one JournalEntry; null: shown, never journaled. */
  readonly level: JournalLevel | null;
  /** All that it can have. */
  readonly reasons: Readonly<Record<Name, Reason>>;
}

export function kind<Name extends string>(
  means: string,
  level: JournalLevel | null,
  reasons: Readonly<Record<Name, Reason>>,
): ConditionKind<Name> {
  return { means, level, reasons };
}

export function reason(who: Actor, means: string, clears: string): Reason {
  return { means, who, clears };
}
