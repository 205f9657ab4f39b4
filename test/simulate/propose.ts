import { ready } from "./apply.ts";
import type { Decision } from "./decision.ts";
import { CALL_FAULTS } from "./faults.ts";
import { hunted } from "./hunts.ts";
import type { Random } from "./random.ts";
import type { Sim } from "./sim.ts";
import type { Theme } from "./themes.ts";

/** How much of a run is what its themes want. */
const HUNTING = 0.5;

/** Calls that a task does at once; null: all that it has left. */
const PIECES = [null, null, null, 3, 8, 20] as const;

/** How rough a run is: what the seed draws once. */
export interface Weather {
  /** Of each call. */
  readonly fault: number;
  /** Of each step. */
  readonly trouble: number;
  /** Whether tasks are taken apart call by call, or mostly run through. */
  readonly apart: number;
  readonly odd: number;
  /** Quiet rounds at the start, so that there is something to lose. */
  readonly rounds: number;
}

export function weatherOf(random: Random, themes: ReadonlySet<Theme>): Weather {
  const after = (["csrs", "readers", "renewals"] as const).some((theme) => themes.has(theme));
  const between = (["gates", "readers", "crowd"] as const).some((theme) => themes.has(theme));
  return {
    fault: random.pick(between ? [0, 0.01, 0.03, 0.1, 0.2] : [0, 0, 0.01, 0.1]),
    trouble: random.pick([0, 0, 0.005, 0.02]),
    // Some bugs show only between two calls.
    apart: random.pick(between ? [0.3, 0.6, 1] : [0.1, 0.2, 0.6]),
    odd: random.pick([0, 0.3, 1]),
    rounds: random.pick(after ? [1, 1, 2] : [0, 1, 1, 2]),
  };
}

/** What owners want of a device, by its status now: each asks mostly for what makes sense then. */
const OWNER: Readonly<Record<string, readonly (readonly [string, number])[]>> = {
  planned: [
    ["plan", 1],
    ["provision", 3],
    ["wipe", 1],
    ["attest", 1],
    ["retire", 1],
    ["mend", 2],
  ],
  active: [
    ["provision", 4],
    ["attest", 3],
    ["wipe", 2],
    ["retire", 5],
    ["mend", 1],
    ["plan", 1],
  ],
  decommissioning: [
    ["plan", 1],
    ["mend", 2],
    ["provision", 1],
  ],
  offline: [
    ["plan", 5],
    ["mend", 1],
  ],
};
const OWNER_ELSE = [
  ["plan", 3],
  ["mend", 3],
  ["declare", 3],
] as const;
const OWNER_ODD = [
  ...([
    ["status", 4],
    ["take-back", 1],
    ["protect", 2],
    ["unprotect", 2],
    ["class", 1],
    ["disk", 1],
    ["keys", 1],
  ] as const),
  ...([
    ["name", 1],
    ["serial", 1],
    ["token", 1],
    ["bmc", 1],
    ["bulk", 1],
    ["delete", 1],
    ["declare", 2],
  ] as const),
  ...([
    ["duplicate", 1],
    ["save-over", 3],
  ] as const),
] as const;
const MACHINE_ODD = [
  ...([
    ["power-cycle", 3],
    ["off", 1],
    ["read-elsewhere", 1],
    ["read-again", 2],
    ["guess", 1],
    ["impostor", 2],
  ] as const),
] as const;
const TROUBLE = [
  ...([
    ["down", 8],
    ["flush", 2],
    ["fail-over", 2],
    ["record-lost", 1],
    ["records-lost", 1],
    ["fleet-lost", 1],
  ] as const),
  ...([
    ["records-back", 1],
    ["record-back", 1],
    ["fleet-back", 1],
    ["tinkerbell-lost", 1],
    ["netbox-back", 1],
  ] as const),
  ...([
    ["all-lost", 1],
    ["kill", 8],
    ["skew", 3],
  ] as const),
] as const;

const TICKS = [
  ...([
    [1000, 6],
    [5000, 6],
    [30_000, 10],
    [70_000, 6],
    [330_000, 4],
    [960_000, 2],
    [4_000_000, 1],
    [20_000_000, 0.3],
  ] as const),
] as const;

const SHORT_TICKS = [
  ...([
    [1000, 8],
    [5000, 6],
    [30_000, 4],
    [70_000, 1],
    [960_000, 0.1],
  ] as const),
] as const;

/** A session lasts ten minutes: who jumps over it each time sees nothing else. */
function isAttesting(sim: Sim): boolean {
  return sim.machines.some((m) => m.busy || m.phase === "evidence" || m.phase === "confirm");
}

/** The next decision: what the seed wants of what is possible now. Task ids are the steps at which they began. */
export function propose(sim: Sim, random: Random, weather: Weather): Decision {
  const id = sim.step + 1;
  const hunt = random.chance(HUNTING) ? hunted(sim, random, id) : null;
  if (hunt !== null) return hunt;
  const n = random.below(1 << 16);
  const device = random.below(sim.machines.length);
  if (random.chance(weather.trouble)) return { do: "trouble", act: random.weighted(TROUBLE), n };
  const going = [...sim.tasks.values()].filter((task) => ready(sim, task).length > 0);
  const passes = [...sim.tasks.values()].filter((task) => task.kind === "pass").length;
  const kind = random.weighted([
    ["go", going.length > 0 ? 60 : 0],
    ["tick", 3],
    ["pass", passes === 0 ? 5 : passes === 1 ? 1.5 : 0],
    ["hook", sim.hooks.length > 0 ? 1.5 : 0],
    ["machine", 9],
    ["peer", 6],
    ["owner", 1.5],
    ["backup", weather.trouble > 0 ? 0.5 : 0],
    ["rest", 0.1],
    ["round", 0.3],
  ] as const);
  switch (kind) {
    case "go": {
      const task = random.pick(going);
      if (!random.chance(weather.apart)) {
        const calls = random.pick(PIECES);
        return { do: "finish", task: task.id, ...(calls === null ? {} : { calls }) };
      }
      const fault = random.chance(weather.fault) ? random.pick(CALL_FAULTS) : undefined;
      return { do: "go", task: task.id, n, ...(fault === undefined ? {} : { fault }) };
    }
    case "tick":
      return { do: "tick", ms: random.weighted(isAttesting(sim) ? SHORT_TICKS : TICKS) };
    case "pass":
      return {
        do: "pass",
        id,
        shard: n,
        skewMs: weather.trouble > 0 && random.chance(0.2) ? random.pick([-20_000, 20_000, 300_000]) : 0,
      };
    case "hook":
      return { do: "hook", id, n, again: random.chance(0.2) };
    case "machine": {
      // Who waits for an answer does nothing.
      const free = sim.machines.filter((m) => !m.busy || m.index === device);
      const { index } = random.pick(free);
      return { do: "machine", act: machineActOf(sim, random, weather, index), machine: index, n, id };
    }
    case "peer": {
      const odd = weather.odd > 0 ? 1 : 0;
      const act = random.weighted([
        ...([
          ["controller", 8],
          ["rufio", 5],
          ["poll", 2],
          ["cluster", odd],
          ["odd-csr", odd],
          ["timeout", odd / 2],
        ] as const),
        ["land", sim.late.length > 0 ? 5 : 0] as const,
      ]);
      return { do: "peer", act, n };
    }
    case "owner": {
      const status = sim.netbox.rows.get(device + 1)?.status ?? "";
      const wishes = OWNER[status] ?? OWNER_ELSE;
      const act = random.chance(weather.odd * 0.4) ? random.weighted(OWNER_ODD) : random.weighted(wishes);
      return { do: "owner", act, device, n };
    }
    case "backup":
      return { do: "trouble", act: "backup", n };
    default:
      return { do: kind, id };
  }
}

/** Mostly what comes next; a machine that lies idle is netbooted. */
function machineActOf(sim: Sim, random: Random, weather: Weather, device: number): string {
  const running = sim.machines[device]?.running;
  if (random.chance(weather.odd * 0.12)) return random.weighted(MACHINE_ODD);
  if (running === "off" || running === "nothing") return random.chance(0.8) ? "netboot" : "power-cycle";
  return random.chance(0.02) ? "netboot" : "next";
}
