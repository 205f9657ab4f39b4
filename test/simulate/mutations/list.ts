/** A bug of one line, planted on purpose: the seeds must find it. */
export interface Mutation {
  readonly name: string;
  /** Below the root of the checkout. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The simulation, or the comparison of Redis' scripts with the store in memory. */
  readonly caughtBy: "simulation" | "store";
}

type Line = readonly [name: string, file: string, find: string, replace: string];

const planted = (caughtBy: Mutation["caughtBy"], lines: readonly Line[]): Mutation[] =>
  lines.map(([name, file, find, replace]) => ({ name, file, find, replace, caughtBy }));

const PLANNER = planted("simulation", [
  [
    "a request of before is fresh",
    "shared/fleet/request.ts",
    "if (last !== null && entry.atMs <= last.atMs) return",
    "if (last === undefined) return",
  ],
  [
    "protected protects nothing",
    "shared/fleet/plan/gates.ts",
    "if (device.protected) return",
    "if (device === null) return",
  ],
  [
    "no gate before enabling",
    "shared/fleet/plan/start.ts",
    "if ((gate !== null || forbids) && ",
    "if (gate !== null && forbids && ",
  ],
  ["one slot too many", "shared/fleet/slots.ts", "fleet.slots.length >= ask.max", "fleet.slots.length > ask.max"],
]);

export const MUTATIONS: readonly Mutation[] = [...PLANNER];
