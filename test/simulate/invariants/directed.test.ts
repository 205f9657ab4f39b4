import { describe, expect, it } from "vitest";
import type { Device } from "../../../shared/fleet/device.ts";
import { withJournal } from "../../../shared/fleet/journal.ts";
import { newRecord } from "../../../shared/fleet/record.ts";
import { machineAct } from "../actors/machines.ts";
import { finish } from "../apply.ts";
import { rest } from "../rest.ts";
import { round } from "../round.ts";
import { Sim } from "../sim.ts";
import type { Task } from "../task.ts";
import { allowPxe } from "./09-allow-pxe.ts";
import { gone } from "./41-gone.ts";
import { atRest, judge } from "./all.ts";

const ID = 1_000_000;

/** A fleet whose machines were admitted; some are in the middle of their install. */
async function installing(seed: number): Promise<Sim> {
  const sim = await Sim.create(seed, judge);
  for (const machine of sim.machines) machine.powerOn(true);
  await round(sim, ID);
  return sim;
}

describe("9: allowPXE and an unfinished Workflow (simulation 600123, 600850)", () => {
  /** Somebody else reads the configuration of a machine that is still being installed. */
  async function readElsewhere(): Promise<{ readonly sim: Sim; readonly id: number }> {
    for (let seed = 1; seed < 40; seed++) {
      const sim = await installing(seed);
      const machine = sim.machines.find((m) => m.running === "hookos" && m.disk?.code != null);
      if (machine === undefined) continue;
      // Even: the response breaks off.
      await machineAct(sim, "read-elsewhere", { machine, n: 1, id: 2 * ID });
      const task = sim.tasks.get(2 * ID);
      if (task !== undefined) await finish(sim, task);
      sim.tasks.delete(2 * ID);
      return { sim, id: machine.index + 1 };
    }
    throw new Error("no fleet is in the middle of an install");
  }

  it("off once the configuration was read, though the Workflow goes on", async () => {
    const { sim, id } = await readElsewhere();
    expect(await rest(sim, 3)).toBe(true);
    await atRest(sim);
    expect(sim.bootPlane.open(id)).toHaveLength(1);
    expect(sim.bootPlane.hardware.get(`f${id}`)?.allowPxe).toBe(false);
    expect(sim.violation).toBeNull();
  });

  it("but a record that alone says so is told", async () => {
    const { sim, id } = await readElsewhere();
    await rest(sim, 3);
    sim.ledger.servings.clear();
    expect(allowPxe.atRest?.(sim)).toBe(`f${id} may not netboot, and a Workflow waits`);
  });
});

it("11: a record that holds a line twice tells its owner twice, whatever NetBox's journal shows", async () => {
  const sim = await Sim.create(1, judge);
  const happening = { level: "info" as const, code: "c", text: "once", about: "a" };
  const record = withJournal(newRecord(1, "w1"), [happening, happening], sim.nowMs);
  sim.emit({ kind: "recorded", before: null, record, by: null });
  expect(sim.violation).toBeNull();
  const twice = { ...record, journal: [...record.journal, ...record.journal] };
  sim.emit({ kind: "recorded", before: record, record: twice, by: null });
  expect(sim.violation).toMatchObject({ invariant: 11, text: "device 1's record tells twice: once" });
});

describe("41: two complete walks without a device (simulation 600285)", () => {
  async function fleet() {
    const sim = await Sim.create(2, judge);
    const all = [...sim.netbox.rows.values()];
    const others = all.filter(({ id }) => id !== 1);
    let id = 0;
    const pass = (...lists: readonly (readonly [which: unknown, devices: readonly Device[]])[]): Task => {
      const task = sim.task(++id, "pass", { name: `pass ${id}`, skewMs: 0, alive: true });
      for (const [which, devices] of lists) sim.ledger.walked(which, devices, task, true);
      task.ended = true;
      task.report = { devices: 0, steps: 0, failed: 0, skipped: false };
      sim.tasks.delete(task.id);
      return task;
    };
    const isTold = () => {
      sim.step++;
      const by = sim.task(++id, "pass", { name: "last", skewMs: 0, alive: true });
      return gone.on?.(sim, { kind: "removed", hardware: "f1", deviceId: 1, by }) ?? null;
    };
    return { sim, all, others, pass, isTold };
  }

  it("a pass between walks that asks who shares a value saw the device for nobody", async () => {
    const { all, others, pass, isTold } = await fleet();
    pass([undefined, others]);
    pass([[2, 3], others], [undefined, all]);
    expect(isTold()).toContain("1 walks came without device 1");
    pass([undefined, others]);
    expect(isTold()).toBeNull();
  });

  it("a walk that has it in between begins anew, and what a walk asks later is no second one", async () => {
    const { all, others, pass, isTold } = await fleet();
    pass([undefined, others], [undefined, others]);
    expect(isTold()).not.toBeNull();
    pass([undefined, all]);
    pass([undefined, others]);
    expect(isTold()).toContain("1 walks came without device 1");
  });
});
