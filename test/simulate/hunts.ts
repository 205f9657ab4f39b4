import type { Decision } from "./decision.ts";
import { recordOf } from "./invariants/truth.ts";
import {
  acts,
  asks,
  bringsToReading,
  type Hunt,
  isHarmed,
  isReader,
  killed,
  onward,
  owner,
  peer,
  rowOf,
  some,
  trouble,
} from "./look.ts";
import type { Machine } from "./machine.ts";
import type { Random } from "./random.ts";
import type { Sim } from "./sim.ts";
import type { Theme } from "./themes.ts";

const gates: Hunt = (look) => {
  const { random, sim } = look;
  const starting = some(look, (_m, record) => record?.run?.phase === "starting");
  // What a dead process left half done, its successor finds changed; the dead one's lock runs out first.
  if (starting !== null && isHarmed(look, starting) && random.chance(0.6))
    return random.chance(0.5) ? { do: "tick", ms: 31_000 } : { do: "pass", id: look.id, shard: look.n };
  if (starting !== null && random.chance(0.5))
    return random.chance(0.4)
      ? killed(look)
      : owner(look, random.pick(["protect", "protect", "class", "disk", "serial"]), starting);
  const waiting = some(look, (m) =>
    sim.bootPlane.open(m.index + 1).some((w) => w.actions.every((a) => a.state === "PENDING")),
  );
  if (waiting !== null && random.chance(0.3)) {
    const isProtected = rowOf(look, waiting)?.protected === true;
    return isProtected && random.chance(0.5) ? { do: "rest", id: look.id } : owner(look, "protect", waiting);
  }
  const harmed = some(look, (m, record) => isHarmed(look, m) && record?.run?.phase !== "starting");
  if (harmed !== null && random.chance(0.25)) return owner(look, random.pick(["unprotect", "mend", "mend"]), harmed);
  const asking = some(look, (m) => asks(look, m) && !isHarmed(look, m));
  if (asking !== null && random.chance(0.2))
    return owner(look, random.pick(["protect", "class", "disk", "disk"]), asking);
  const idle = some(look, (m) => !asks(look, m));
  if (idle !== null && random.chance(0.4))
    return owner(look, random.pick(["provision", "provision", "wipe", "wipe", "retire", "plan"]), idle);
  return random.chance(0.3) ? { do: "pass", id: look.id, shard: look.n } : null;
};

const agents: Hunt = (look) => {
  if (look.random.chance(0.8)) return onward(look);
  const idle = some(look, (m) => !asks(look, m));
  return idle === null ? null : owner(look, look.random.pick(["retire", "wipe", "attest", "plan"]), idle);
};

const bmc: Hunt = (look) => {
  const { random, sim } = look;
  if ([...sim.bootPlane.jobs.values()].some((job) => job.state === "open") && random.chance(0.6))
    return peer(
      look,
      random.weighted([
        ["rufio", 2],
        ["old-tasks", 3],
        ["stale-power", 1],
      ] as const),
    );
  if (random.chance(0.6)) return onward(look);
  const idle = some(look, (m) => m.bmc !== null && !asks(look, m));
  return idle === null ? null : owner(look, random.pick(["retire", "retire", "plan"]), idle);
};

const csrs: Hunt = (look) => {
  const { random, sim, n } = look;
  const live = some(
    look,
    ({ config }) => config?.token != null && sim.cluster.tokens.has(config.token.split(".")[0] ?? ""),
  );
  if (live !== null) {
    const kind = random.weighted([
      ["odd", 4],
      ["next", 1],
      ["pass", 2],
      ["none", 4],
    ] as const);
    const approved = recordOf(sim, live.index + 1)?.token?.csr != null;
    if (approved && random.chance(0.2)) return { do: "rest", id: look.id };
    if (kind === "odd") return { do: "peer", act: "odd-csr", n: live.index + (n % 4096) * sim.machines.length };
    if (kind === "next") return acts(look, "next", live);
    return kind === "pass" ? { do: "pass", id: look.id } : null;
  }
  return bringsToReading(look);
};

const readers: Hunt = (look) => {
  const { random, sim } = look;
  const reading = [...sim.tasks.values()].some(({ kind }) => kind === "config");
  const reader = some(
    look,
    (m) => isReader(m) || (m.running === "disk" && m.disk?.code != null && random.chance(0.05)),
  );
  if (reader === null) return bringsToReading(look);
  if (reading && random.chance(0.25)) return trouble(look, "fail-over-soon");
  const kind = random.weighted([
    ["status", 2],
    ["plan", 3],
    ["next", 4],
    ["read-elsewhere", 4],
    ["read-again", 2],
    ["none", 4],
    ["rest", 0.4],
  ] as const);
  if (kind === "none") return null;
  if (kind === "rest") return { do: "rest", id: look.id };
  return kind === "status" || kind === "plan" ? owner(look, kind, reader) : acts(look, kind, reader);
};

const keys: Hunt = (look) => {
  const { random } = look;
  const attesting = some(
    look,
    (m) => !m.busy && m.running === "hookos" && (m.phase === "evidence" || m.phase === "confirm"),
  );
  if (attesting !== null && random.chance(0.6))
    return random.chance(0.5)
      ? owner(look, random.pick(["keys", "keys", "status"]), attesting)
      : acts(look, "next", attesting);
  const changed = some(look, (m) => rowOf(look, m)?.serial !== m.serial || !Array.isArray(rowOf(look, m)?.approvedEks));
  if (changed !== null && random.chance(0.3)) return owner(look, "mend", changed);
  const reader = some(look, (m) => isReader(m));
  if (reader !== null && random.chance(0.5)) return owner(look, random.pick(["keys", "serial", "plan"]), reader);
  const idle = some(look, (m) => m.running !== "hookos" && m.config === null);
  return idle === null ? bringsToReading(look) : acts(look, "netboot", idle);
};

const memory: Hunt = (look) => {
  const { random, sim } = look;
  const asking = some(
    look,
    (m, record) => asks(look, m) || (record?.installed == null && rowOf(look, m)?.status === "planned"),
  );
  if (asking === null)
    return owner(look, random.pick(["provision", "wipe", "attest", "retire", "plan"]), random.pick(sim.machines));
  const kind = random.weighted([
    ["lose", 1],
    ["pass", 3],
    ["next", 4],
    ["ask", 1],
    ["accept", 1],
    ["onward", 3],
  ] as const);
  if (kind === "lose")
    return trouble(
      look,
      random.weighted([
        ["fleet-lost", 4],
        ["record-lost", 1],
        ["fleet-back", 1],
      ] as const),
    );
  if (kind === "pass") return { do: "pass", id: look.id };
  if (kind === "next") return acts(look, asking.running === "hookos" ? "next" : "netboot", asking);
  if (kind === "ask") return owner(look, random.pick(["provision", "wipe"]), asking);
  if (kind === "accept") return { do: "accept", id: look.id, what: "request", device: asking.index };
  return onward(look);
};

const crowd: Hunt = (look) => {
  const { random, sim, id } = look;
  if (random.chance(0.15))
    return owner(look, random.pick(["provision", "wipe", "attest", "plan"]), random.pick(sim.machines));
  const target = some(look, (m, record) => asks(look, m) || (record?.run != null && record.run.phase !== "ended"));
  if (target === null)
    return owner(look, random.pick(["provision", "wipe", "retire", "attest"]), random.pick(sim.machines));
  const hook = sim.hooks.findIndex(({ deviceId }) => deviceId === target.index + 1);
  const passes = [...sim.tasks.values()].filter(({ kind }) => kind === "pass").length;
  const kind = random.weighted([
    ["hook", hook >= 0 && sim.tasks.size < 5 ? 3 : 0],
    ["pass", passes < 3 ? 1 : 0],
    ["next", 2],
    ["owner", 1],
    ["none", 4],
  ] as const);
  if (kind === "hook") return { do: "hook", id, n: hook, again: random.chance(0.5) };
  if (kind === "pass") return { do: "pass", id, shard: look.n };
  if (kind === "next") return acts(look, "next", target);
  return kind === "owner"
    ? owner(look, random.pick(["plan", "provision", "take-back", "protect", "unprotect"]), target)
    : null;
};

const renewals: Hunt = (look) => {
  const { random } = look;
  const node = some(look, (m) => m.running === "disk" && m.certificates !== null && !m.busy);
  if (node === null) return bringsToReading(look);
  if (node.renewing !== null && random.chance(0.3))
    return owner(look, random.pick(["status", "retire", "provision"]), node);
  const active = rowOf(look, node)?.status === "active";
  const kind = random.weighted([
    ["renew", 6],
    ["renew-as", 2],
    ["status", active ? 0.3 : 0],
    ["plan", 0.2],
    ["active", active ? 0 : 8],
  ] as const);
  return kind === "renew" || kind === "renew-as" ? acts(look, kind, node) : owner(look, kind, node);
};

const vanishing: Hunt = (look) => {
  const { random, sim } = look;
  const act = random.weighted([
    ["hide", 3],
    ["show", 2],
    ["vanish", 0.5],
    ["delete", 0.5],
    ["declare", 2],
    ["tick", 3],
    ["accept", 1],
    ["pass", 4],
  ] as const);
  if (act === "tick") return { do: "tick", ms: 660_000 };
  if (act === "pass") return { do: "pass", id: look.id, shard: look.n };
  if (act === "accept") return { do: "accept", id: look.id, what: "vanished", device: 0 };
  return owner(look, act, random.pick(sim.machines));
};

const failing: Hunt = (look) => {
  const { random, sim } = look;
  if (random.chance(0.15)) return { do: "accept", id: look.id, what: "failures", device: 0 };
  const attesting = some(look, (m) => !m.busy && m.running === "hookos" && m.phase !== "agent");
  if (attesting !== null && random.chance(0.7)) return acts(look, "next", attesting);
  const node = some(look, (m) => m.running === "disk" && m.certificates !== null);
  if (node !== null && random.chance(0.5)) return acts(look, "renew", node);
  return acts(look, "netboot", random.pick(sim.machines));
};

const words: Hunt = (look) => {
  const { random, sim } = look;
  const one = random.pick(sim.machines);
  const kind = random.weighted([
    ["accept", 3],
    ["lose", 0.3],
    ["owner", 2],
    ["save-over", 1],
    ["onward", 4],
  ] as const);
  if (kind === "accept") return { do: "accept", id: look.id, what: "request", device: one.index };
  if (kind === "lose") return trouble(look, random.pick(["records-lost", "fleet-lost", "all-lost", "netbox-back"]));
  if (kind === "onward") return onward(look);
  return owner(look, kind === "save-over" ? kind : random.pick(["provision", "wipe", "retire", "plan", "attest"]), one);
};

/** A running node is renamed, and the device before it takes its name. */
const names: Hunt = (look) => {
  const { random, sim } = look;
  const rename = ({ index }: Machine, n: number): Decision => ({ do: "owner", act: "name", device: index, n });
  const node = some(look, (m) => m.joined && m.index > 0);
  const other = sim.machines[(node?.index ?? 0) - 1];
  if (node === null || other === undefined || random.chance(0.3)) return bringsToReading(look);
  const row = rowOf(look, other);
  if (rowOf(look, node)?.name === `w${node.index + 1}`) return rename(node, random.pick([1, 1, 3]));
  if (row?.name !== node.config?.node) return rename(other, random.pick([2, 2, 0]));
  if (random.chance(0.3)) return { do: "pass", id: look.id, shard: look.n };
  if (row?.status === "decommissioning") return owner(look, random.pick(["offline", "offline", "active"]), other);
  return random.chance(0.6) ? owner(look, random.pick(["retire", "plan"]), other) : acts(look, "renew", node);
};

const HUNTS: Readonly<Record<Theme, Hunt>> = {
  ...{ gates, agents, bmc, csrs, readers, keys },
  ...{ memory, crowd, renewals, vanishing, failing, words, names },
};

/** What a theme of the seed wants done now; null where there is nothing to hunt for. */
export function hunted(sim: Sim, random: Random, id: number): Decision | null {
  const theme = random.pick([...sim.themes]);
  return HUNTS[theme]({ sim, random, id, n: random.below(1 << 16) });
}
