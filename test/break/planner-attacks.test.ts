import { describe, expect, it } from "vitest";
import { newRecord } from "../../shared/fleet/record.ts";
import { needsChanges } from "../../shared/fleet/request.ts";
import { Model } from "../scenarios/model.ts";
import { attests, request, servedUnseen } from "./installed.ts";

const enabled = (m: Model) => (m.bootPlane?.workflows ?? []).filter((w) => !w.disabled);

describe("a Workflow whose run is over does not stay enabled (invariants 1, 2)", () => {
  it("goes when its own deadline passed before any action began: protected afterwards, it would wipe", () => {
    const m = new Model();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.pass();
    expect(enabled(m)).toHaveLength(1);
    m.minutes(61);
    m.pass();
    expect(m.record.run?.result).toBe("failed");
    m.owner({ protected: true }, request(2));
    m.pass();
    expect(enabled(m)).toEqual([]);
  });

  it("goes when it was enabled in the moment in which another actor withdrew its run", () => {
    const m = new Model();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.pass();
    const { run } = m.record;
    if (run === null) throw new Error("no run");
    m.record = {
      ...m.record,
      run: {
        ...run,
        phase: "ended",
        result: "withdrawn",
        terminal: { state: "WITHDRAWN", atMs: m.nowMs, action: null, detail: "" },
      },
    };
    m.owner({ protected: true }, request(2));
    m.pass();
    expect(enabled(m)).toEqual([]);
  });

  it("goes when its machine was powered off in the middle of it for a retirement that then waits", () => {
    const m = servedUnseen();
    m.pass();
    m.owner({ desiredAction: "wipe" }, request(3));
    m.pass();
    m.agent(1, "RUNNING");
    m.pass();
    m.owner({ status: "decommissioning", protected: true }, request(4));
    m.pass();
    m.job({ state: "completed" });
    m.pass();
    expect(m.record.run?.terminal?.state).toBe("STOPPED");
    expect(enabled(m)).toEqual([]);
  });
});

it("a Workflow that was enabled and is gone when fleetd comes back is not made again (invariant 1)", () => {
  const m = new Model();
  m.owner({ desiredAction: "wipe" }, request(1));
  m.until("enable-workflow");
  expect(enabled(m)).toHaveLength(1);
  if (m.bootPlane !== null) m.bootPlane.workflows = [];
  const lines = m.pass();
  expect(lines.filter((l) => l.startsWith("create Workflow") || l.startsWith("enable"))).toEqual([]);
  expect(m.record.run?.phase).toBe("ended");
});

describe("NetBox's status is the owner's (invariants 6, 10)", () => {
  it("planned set right after the serving is a request for a new install, not a lost write of active", () => {
    const m = servedUnseen();
    m.write({ status: "active" });
    m.owner({ status: "planned" }, request(2));
    m.pass();
    expect(m.device.status).toBe("planned");
    attests(m);
    m.pass("confirm");
    expect(m.record.run?.request.id).toBe(request(2));
  });

  it("an older row that is saved over active right after it was seen is no owner's word: active again", () => {
    const m = servedUnseen();
    m.pass();
    expect(m.record.installed?.activatedAtMs).not.toBeNull();
    m.write({ status: "planned" });
    m.pass();
    expect(m.device.status).toBe("active");
  });

  it("a wipe asked for before active was written leaves the device planned", () => {
    const m = servedUnseen();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.agent(1, "RUNNING");
    m.pass();
    m.agent(2, "SUCCESS");
    m.pass();
    expect(m.record.run?.result).toBe("wiped");
    expect(m.device.status).toBe("planned");
  });
});

it("a record that is lost does not make an old request fresh: fleet_run is the second copy (invariant 18)", () => {
  const m = new Model();
  m.owner({ status: "active" }, request(0));
  m.owner({ status: "planned" }, request(1));
  attests(m);
  m.pass("confirm");
  m.agent(1, "FAILED", "FAILED");
  m.pass();
  expect(m.record.run?.result).toBe("failed");
  m.record = newRecord(7, "w1");
  if (m.bootPlane !== null) m.bootPlane.workflows = [];
  m.pass();
  attests(m);
  const lines = m.pass("confirm");
  expect(lines.filter((l) => l.startsWith("create Workflow"))).toEqual([]);
  expect(m.record.run).toBeNull();
});

it("a record that went back does not make an old request fresh either", () => {
  const m = new Model();
  const old = m.record;
  m.owner({ status: "active" }, request(0));
  m.owner({ status: "planned" }, request(1));
  m.owner({ desiredAction: "wipe" }, request(2));
  m.pass();
  m.agent(2, "SUCCESS");
  m.pass();
  expect(m.record.run?.result).toBe("wiped");
  m.record = old;
  if (m.bootPlane !== null) m.bootPlane.workflows = [];
  attests(m);
  const lines = m.pass("confirm");
  expect(lines.filter((l) => l.startsWith("create Workflow"))).toEqual([]);
});

it("a device can be retired in its second life: the change log is read for it", () => {
  const m = new Model();
  m.owner({ status: "decommissioning" }, request(1));
  m.pass();
  const { retire } = m.record;
  if (retire === null) throw new Error("not retiring");
  const once = { ...m.record, retire: { ...retire, offlineAtMs: m.nowMs } };
  expect(needsChanges({ ...m.device, status: "decommissioning" }, once)).toBe(true);
});

it("a slot that was lost with the fleet's memory is taken again by the run that needs it (invariant 17)", () => {
  const m = new Model();
  m.owner({ desiredAction: "wipe" }, request(1));
  m.pass();
  m.fleet = { ...m.fleet, slots: [] };
  m.pass();
  expect(m.fleet.slots.map((s) => s.deviceId)).toEqual([7]);
});
