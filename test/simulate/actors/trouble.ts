import type { LossKind } from "../ledger.ts";
import { at } from "../random.ts";
import type { Sim } from "../sim.ts";

const PORTS = ["netbox", "bootPlane", "cluster", "records", "store", "signer"];
const MINUTE = 60_000;

/** One large trouble. */
export async function troubleAct(sim: Sim, name: string, n: number): Promise<void> {
  const lost = (what: LossKind, deviceId?: number) => {
    const of = deviceId === undefined ? {} : { deviceId };
    sim.ledger.losses.push({ step: sim.step, atMs: sim.nowMs, what, ...of });
  };
  sim.count(name);
  await troubled(sim, name, n, lost);
  sim.ledger.noteEpoch(sim.step, sim.records.fleetText?.text ?? null);
}

async function troubled(
  sim: Sim,
  name: string,
  n: number,
  lost: (what: LossKind, deviceId?: number) => void,
): Promise<void> {
  const { backups } = sim;
  const backup = backups[n % Math.max(backups.length, 1)];
  switch (name) {
    case "backup":
      backups.push({
        atMs: sim.nowMs,
        netbox: sim.netbox.copy(),
        records: sim.records.copy(),
        bootPlane: sim.bootPlane.copy(),
      });
      if (backups.length > 4) backups.shift();
      return;
    case "down":
      sim.down.set(at(PORTS, n), sim.nowMs + at([1, 3, 12, 40], n) * MINUTE);
      return;
    case "flush":
      lost("store");
      return sim.store.flush();
    case "fail-over":
      lost("store");
      return sim.store.goBack(sim.nowMs - at([1, 5, 30], n) * MINUTE);
    // The replica is behind by what was written in the last moment: a claim, say.
    case "fail-over-soon":
      lost("store");
      return sim.store.goBack(sim.nowMs - at([30, 60, 120, 400], n));
    case "record-lost": {
      const ids = [...sim.records.kept.keys()];
      if (ids.length === 0) return;
      lost("record", at(ids, n));
      sim.records.kept.delete(at(ids, n));
      return;
    }
    case "records-lost":
      lost("records");
      return sim.records.restore({ kept: new Map(), fleet: null }, "all");
    case "fleet-lost":
      lost("fleet");
      return sim.records.restore({ kept: new Map(), fleet: null }, "fleet");
    case "records-back":
      if (backup === undefined) return;
      lost("records");
      return sim.records.restore(backup.records, "all");
    case "record-back": {
      const ids = [...sim.records.kept.keys()];
      if (backup === undefined || ids.length === 0) return;
      lost("record", at(ids, n));
      return sim.records.restore(backup.records, at(ids, n));
    }
    case "fleet-back":
      if (backup === undefined) return;
      lost("fleet");
      return sim.records.restore(backup.records, "fleet");
    case "tinkerbell-lost":
      lost("tinkerbell");
      return sim.bootPlane.lose();
    case "netbox-back":
      if (backup === undefined) return;
      lost("netbox");
      return sim.netbox.restore(backup.netbox);
    case "all-lost":
      lost("records");
      lost("tinkerbell");
      lost("store");
      sim.records.restore({ kept: new Map(), fleet: null }, "all");
      sim.bootPlane.lose();
      return sim.store.flush();
    case "kill": {
      const tasks = [...sim.tasks.values()];
      if (tasks.length > 0) sim.kill(at(tasks, n).process);
      return;
    }
    case "skew": {
      const processes = [...sim.replicas, ...[...sim.tasks.values()].map((t) => t.process)];
      at(processes, n).skewMs = at([-3_600_000, -300_000, -20_000, 0, 0, 20_000, 300_000, 3_600_000], n >> 3);
      return;
    }
    default:
      throw new Error(`no trouble: ${name}`);
  }
}
