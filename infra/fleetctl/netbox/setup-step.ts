/** Ids of what there is and of what a step has made, by `<what> <name>`. */
export type Ids = ReadonlyMap<string, number>;

/** One write of a set-up: a value that can be shown, carried out without any choice. */
export interface SetupStep {
  readonly do: "create" | "change";
  readonly what: SetupKind;
  readonly name: string;
  /** What comes of it, in words; never a secret. */
  readonly details: readonly string[];
  readonly id: number | null;
  /** The ids of what it refers to are known when their steps are done. */
  readonly body: (ids: Ids) => Readonly<Record<string, unknown>>;
}

export const PATHS = {
  "device role": "/api/dcim/device-roles/",
  "choice set": "/api/extras/custom-field-choice-sets/",
  "custom field": "/api/extras/custom-fields/",
  user: "/api/users/users/",
  permission: "/api/users/permissions/",
  token: "/api/users/tokens/",
  webhook: "/api/extras/webhooks/",
  "event rule": "/api/extras/event-rules/",
} as const;
export type SetupKind = keyof typeof PATHS;

export interface SetupPlan {
  readonly steps: readonly SetupStep[];
  /** Differences that are an owner's to decide: with any of them nothing is done. */
  readonly refused: readonly string[];
  /** Worth knowing; nothing is done about it. */
  readonly notes: readonly string[];
  readonly ids: Ids;
}

/** Puts a plan together, part by part. */
export class SetupPlanner {
  readonly steps: SetupStep[] = [];
  readonly refused: string[] = [];
  readonly notes: string[] = [];
  readonly ids = new Map<string, number>();

  create(what: SetupKind, name: string, details: readonly string[], body: SetupStep["body"]): void {
    this.steps.push({ do: "create", what, name, details, id: null, body });
  }

  /** A change of the named keys alone, told by them. */
  change(what: SetupKind, name: string, id: number, changes: readonly Change[]): void {
    if (changes.length === 0) return;
    const details = changes.map((change) => change.text);
    this.steps.push({
      do: "change",
      what,
      name,
      details,
      id,
      body: (ids) =>
        Object.fromEntries(changes.map(({ key, value }) => [key, typeof value === "function" ? value(ids) : value])),
    });
  }
}

export interface Change {
  readonly key: string;
  readonly value: unknown | ((ids: Ids) => unknown);
  readonly text: string;
}

/** The id of what must be there by now. */
export function idOf(ids: Ids, what: SetupKind, name: string): number {
  const id = ids.get(`${what} ${name}`);
  if (id === undefined) throw new Error(`${what} ${name} is not there yet`);
  return id;
}

/** The changes from what is there to what is wanted, key by key; lists of texts are sets. */
export function changesTo(
  stored: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, unknown>>,
  secret: readonly string[] = [],
): Change[] {
  return Object.entries(wanted)
    .filter(([key, value]) => canonical(stored[key]) !== canonical(value))
    .map(([key, value]) => ({
      key,
      value,
      text: secret.includes(key) ? `${key}: another one` : `${key}: ${shown(stored[key])} → ${shown(value)}`,
    }));
}

function shown(value: unknown): string {
  return value === undefined || value === "" || value === null ? "(none)" : JSON.stringify(value);
}

/** JSON with sorted keys and sorted lists of texts; nothing, "" and null are the same. */
function canonical(value: unknown): string {
  if (value === undefined || value === null || value === "") return "null";
  return JSON.stringify(value, (_key, each: unknown) => {
    if (Array.isArray(each) && each.every((one) => typeof one === "string")) return [...each].sort();
    return typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  });
}
