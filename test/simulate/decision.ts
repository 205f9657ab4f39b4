import type { CallFault } from "./faults.ts";

/** What an administrator gives his word for. */
export type Accept = "request" | "vanished" | "failures";

/** One step of the simulation, as it is chosen, written down and done again. `n` is a number to choose by. */
export type Decision =
  /** One waiting call of a task goes on; `n` says which. */
  | { readonly do: "go"; readonly task: number; readonly n?: number; readonly fault?: CallFault }
  /** The task goes on to its end, or for so many calls. */
  | { readonly do: "finish"; readonly task: number; readonly calls?: number }
  | { readonly do: "tick"; readonly ms: number }
  /** A whole pass, of the n-th shard, in a process of its own. `id` names the task. */
  | { readonly do: "pass"; readonly id: number; readonly skewMs?: number; readonly shard?: number }
  /** fleetctl accept: a device's held request, or what many devices did at once. */
  | { readonly do: "accept"; readonly id: number; readonly what: Accept; readonly device: number }
  /** A webhook is delivered to a replica; `again`: it stays in the queue and comes a second time. */
  | { readonly do: "hook"; readonly id: number; readonly n: number; readonly again?: boolean }
  | { readonly do: "owner"; readonly act: string; readonly device: number; readonly n: number }
  /** A machine does what comes next, or what nobody expects. */
  | { readonly do: "machine"; readonly act: string; readonly machine: number; readonly n: number; readonly id: number }
  | { readonly do: "peer"; readonly act: string; readonly n: number }
  | { readonly do: "trouble"; readonly act: string; readonly n: number }
  /** Everybody does what comes next, a while long, and nobody comes between. */
  | { readonly do: "round"; readonly id: number }
  /** Everything comes to rest: no faults, passes until nothing is left to do. */
  | { readonly do: "rest"; readonly id: number };
