import { CONDITIONS, wordsOf } from "./condition.ts";
import type { ConditionKind } from "./conditions/_kind.ts";
import { isoTime } from "./moment.ts";
import type { ConditionRecord } from "./said-record.ts";

/** A condition as people and programs see it; without the list's words where an older or newer fleetd wrote it. */
export interface ShownCondition {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
  readonly run: string;
  readonly means?: string;
  readonly who?: string;
  readonly clears?: string;
}

const RANKS: readonly (string | null)[] = ["danger", "warning", null, "success", "info"];

function rank(type: string): number {
  const kinds: Readonly<Record<string, ConditionKind>> = CONDITIONS;
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  return RANKS.indexOf(kind === undefined ? "warning" : kind.level);
}

/** The conditions of a record, the worst first. */
export function shownConditions(conditions: readonly ConditionRecord[]): readonly ShownCondition[] {
  return [...conditions]
    .sort((a, b) => rank(a.type) - rank(b.type))
    .map((c) => {
      const words = wordsOf(c.type, c.reason);
      return {
        type: c.type,
        reason: c.reason,
        message: c.message,
        since: isoTime(c.sinceMs),
        run: c.about,
        ...(words !== null && { means: `${words.type} ${words.means}`, who: words.who, clears: words.clears }),
      };
    });
}
