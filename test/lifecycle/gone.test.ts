import { describe, expect, it } from "vitest";
import { isForgotten } from "../../shared/fleet/plan/gone.ts";
import { orphanedSlots } from "../../shared/fleet/slots.ts";
import { attests, declared, goneWalk, installed, minted, request, workflowOf } from "../scenarios/acts.ts";
import type { Model } from "../scenarios/model.ts";

function wiping(bmcType: string | null = "redfish"): Model {
  const m = declared({ bmcType });
  m.owner({ desiredAction: "wipe" }, request(2));
  m.pass();
  return m;
}

describe("row 41: gone, no run", () => {
  it("row 41: Hardware, Machine, Jobs and Workflows go; the record stays", () => {
    const m = installed();
    expect(goneWalk(m)).toEqual([
      `delete Workflow ${workflowOf("provision", 1)}`,
      "delete Machine f7",
      "delete Hardware f7",
      "record: run provision success",
      "free-slot",
    ]);
    expect(goneWalk(m)).toEqual([]);
  });

  it("row 41: the record is kept for 90 days", () => {
    const m = installed();
    m.record = { ...m.record, absentSinceMs: m.nowMs };
    expect(isForgotten(m.record, m.nowMs + 89 * 86_400_000, m.settings)).toBe(false);
    expect(isForgotten(m.record, m.nowMs + 91 * 86_400_000, m.settings)).toBe(true);
    expect(isForgotten({ ...m.record, absentSinceMs: null }, m.nowMs + 91 * 86_400_000, m.settings)).toBe(false);
  });
});

describe("row 42: gone with a run", () => {
  it("row 42: no action begun: withdrawn, its configuration and token removed", () => {
    const m = declared();
    attests(m);
    m.pass("confirm");
    minted(m);
    const lines = goneWalk(m);
    expect(lines.slice(0, 3)).toEqual([
      `delete Workflow ${workflowOf("provision", 1)}`,
      "drop-config",
      "delete-token abcdef",
    ]);
    expect(m.record).toMatchObject({ run: { result: "withdrawn" }, config: { state: "removed" } });
    expect(m.fleet.slots).toEqual([]);
  });

  it("row 42: running, with a BMC: off by a Job, and only then all goes", () => {
    const m = wiping();
    m.agent(1, "RUNNING");
    const job = `${workflowOf("wipe", 2)}-off-1`;
    expect(goneWalk(m)).toEqual(["record: run wipe running", `create Job ${job}`]);
    expect(goneWalk(m)).toEqual([]);
    m.job({ state: "completed" });
    expect(goneWalk(m)).toEqual([
      `delete Workflow ${workflowOf("wipe", 2)}`,
      `delete Job ${job}`,
      "delete Machine f7",
      "delete Hardware f7",
      "record: run wipe stopped",
      "free-slot",
    ]);
    expect(m.record.run).toMatchObject({ terminal: { state: "STOPPED" }, diskBegun: true });
  });

  it("row 42: a Job that failed is unknown: the next has another name, after the back-off", () => {
    const m = wiping();
    m.agent(1, "RUNNING");
    goneWalk(m);
    m.job({ state: "failed" });
    expect(goneWalk(m)).toEqual(["record: run wipe running"]);
    expect(goneWalk(m)).toEqual(["record: run wipe running", `create Job ${workflowOf("wipe", 2)}-off-2`]);
  });

  it("row 42: running, without a BMC: left until its end", () => {
    const m = wiping(null);
    m.agent(1, "RUNNING");
    m.pass();
    expect(goneWalk(m)).toEqual([]);
    m.agent(1, "FAILED", "FAILED");
    goneWalk(m);
    expect(m.record.run).toMatchObject({ result: "failed", terminal: { state: "FAILED", action: "wipe" } });
    expect(m.bootPlane?.workflows).toEqual([]);
  });

  it("row 42: running, without a BMC: or its own deadline", () => {
    const m = wiping(null);
    m.agent(1, "RUNNING");
    goneWalk(m);
    m.minutes(80);
    goneWalk(m);
    expect(m.record.run).toMatchObject({ result: "failed", terminal: { state: "DEADLINE" } });
  });
});

it("a slot of a device that is in no fleet goes after 10 minutes, not before", () => {
  const m = installed();
  const fleet = { ...m.fleet, slots: [{ deviceId: 99, run: "r", sinceMs: m.nowMs }] };
  const { slotOrphanMs } = m.settings.durations;
  expect(orphanedSlots(fleet.slots, new Set([7]), m.nowMs + 9 * 60_000, slotOrphanMs)).toEqual([]);
  expect(orphanedSlots(fleet.slots, new Set([7]), m.nowMs + 11 * 60_000, slotOrphanMs)).toEqual([99]);
});
