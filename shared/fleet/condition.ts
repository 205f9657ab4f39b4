import type { ConditionKind, Reason } from "./conditions/_kind.ts";
import { changedConditions } from "./conditions/changed.ts";
import { identityConditions } from "./conditions/identity.ts";
import { installConditions } from "./conditions/install.ts";
import { machineConditions } from "./conditions/machine.ts";
import { peerConditions } from "./conditions/peers.ts";
import { requestConditions } from "./conditions/requests.ts";
import { retirementConditions } from "./conditions/retirement.ts";
import { vanishedConditions } from "./conditions/vanished.ts";
import type { JournalLevel } from "./device.ts";

/**
 * The closed list of conditions and their reasons: the one language of journal, look-ups, metrics, fleetctl and page.
 * @see spec/30-reconcile.md "Conditions and the journal"
 */
export const CONDITIONS = {
  ...requestConditions,
  ...machineConditions,
  ...identityConditions,
  ...changedConditions,
  ...installConditions,
  ...retirementConditions,
  ...peerConditions,
  ...vanishedConditions,
};

export type ConditionType = keyof typeof CONDITIONS;
/** The reasons that a condition of this type can have. */
export type ReasonOf<Type extends ConditionType> = keyof (typeof CONDITIONS)[Type]["reasons"] & string;

export interface Condition {
  readonly type: ConditionType;
  /** Stable code in kebab case, often one of the protocol's; another than the list's only from an older record. */
  readonly reason: string;
  readonly message: string;
  /** Run name or request id that it speaks of, or "". */
  readonly about: string;
}

/** What the list says of a condition: of its type, and of its reason. */
export interface ConditionWords extends Reason {
  readonly type: string;
  readonly level: JournalLevel | null;
}

/** Whether a code is a reason that a condition of this type can have. */
export function isReason<Type extends ConditionType>(type: Type, code: string): code is ReasonOf<Type> {
  return Object.hasOwn(CONDITIONS[type].reasons, code);
}

/** The list's words for a condition that a record holds; null for one that an older or newer fleetd wrote there. */
export function wordsOf(type: string, reason: string): ConditionWords | null {
  if (!Object.hasOwn(CONDITIONS, type)) return null;
  const kind: ConditionKind = CONDITIONS[type as ConditionType];
  const own = Object.hasOwn(kind.reasons, reason) ? kind.reasons[reason] : undefined;
  return own === undefined ? null : { ...own, type: kind.means, level: kind.level };
}

/** A condition as labels of a metric: a closed list, whatever a record holds. */
export function conditionLabels({ type, reason }: { readonly type: string; readonly reason: string }) {
  return wordsOf(type, reason) === null ? { type: "unlisted", reason: "unlisted" } : { type, reason };
}
