import { describe, expect, it } from "vitest";
import { newFleetRecord } from "../../shared/fleet/fleet-record.ts";
import { admissionAnswer } from "../../shared/fleet/plan/admit.ts";
import { newRecord } from "../../shared/fleet/record.ts";
import { attests, declared, installed, request, retiring, workflowOf } from "../scenarios/acts.ts";
import { Model } from "../scenarios/model.ts";
import { acts, conditions, runs, said, times } from "./seen.ts";

/** A wipe whose Workflow waits. */
function wiping(): Model {
  const m = new Model();
  m.owner({ desiredAction: "wipe" }, request(1));
  m.pass();
  m.lines.length = 0;
  return m;
}

const LATE = (name: string, kind: string) =>
  `journal warning: Workflow ${name} had no record, which was lost or late: adopted as ${kind}, and its request is used up`;

describe("a Workflow with fleetd's labels and no record is written into a new record first", () => {
  it("orphan: waiting: adopted, watched to its end, its record said to be late; never a second run", () => {
    const m = wiping();
    m.record = newRecord(7, "w1");
    const lines = m.pass();
    expect(said(lines)).toEqual([LATE(workflowOf("wipe", 1), "wipe")]);
    expect(runs(lines)).toEqual([]);
    expect(m.record).toMatchObject({
      run: { name: workflowOf("wipe", 1), phase: "waiting", request: { id: request(1) } },
      lastRequests: { install: { id: request(1) } },
    });
    expect(m.fleet.slots.map((s) => s.deviceId)).toEqual([7]);
    m.agent(2, "SUCCESS");
    m.pass();
    expect([m.record.run?.result, conditions(m)]).toEqual(["wiped", ["NoRequest/no-request"]]);
  });

  it("orphan: before NetBox was told: the field still asks; the request is used up, cleared, not run again", () => {
    const m = new Model();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.until("enable-workflow");
    m.record = newRecord(7, "w1");
    const lines = m.pass();
    expect(runs(lines)).toEqual([]);
    expect(acts(lines)).toEqual(["netbox: desiredAction=null fleetRun=…"]);
    m.agent(2, "SUCCESS");
    expect(runs([...m.pass(), ...m.pass()])).toEqual([]);
    expect(m.record.run?.result).toBe("wiped");
  });

  it.each([
    ["RUNNING", 1, "running"],
    ["FAILED", 1, "ended"],
    ["SUCCESS", 2, "ended"],
  ] as const)("orphan: %s: adopted as it is", (state, done, phase) => {
    const m = wiping();
    m.agent(done, state, state === "FAILED" ? "FAILED" : "RUNNING");
    m.record = newRecord(7, "w1");
    m.pass();
    expect(m.record.run).toMatchObject({ name: workflowOf("wipe", 1), phase });
    expect(times(m, "had no record")).toBe(1);
    m.owner({ desiredAction: "wipe" }, request(2));
    expect(runs(m.pass())).toHaveLength(phase === "ended" ? 2 : 0);
  });

  it("orphan: disabled, it never ran: its request is judged by itself, and the Workflow is never enabled as it is", () => {
    const m = new Model();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.until("create-workflow");
    m.record = newRecord(7, "w1");
    m.fleet = newFleetRecord(m.nowMs);
    m.minutes(1);
    expect(runs(m.pass())).toEqual([]);
    expect([m.record.run, conditions(m)]).toEqual([null, ["RequestHeld/request-held"]]);
  });

  it("orphan: a first install goes on: its machine is given its code", () => {
    const m = declared();
    attests(m);
    m.pass("confirm");
    m.agent(1, "RUNNING");
    m.record = newRecord(7, "w1");
    attests(m);
    expect(runs(m.pass("confirm"))).toEqual([]);
    expect(admissionAnswer(m.observed("confirm"))).toMatchObject({ outcome: "install" });
  });

  it("orphan: a retirement goes on, and erases once", () => {
    const m = retiring();
    m.agent(4, "SUCCESS");
    m.record = newRecord(7, "w1");
    const lines = m.pass();
    expect(runs(lines)).toEqual([]);
    expect(m.record.retire).toMatchObject({ request: { id: request(9) }, failures: 0 });
    expect(m.record.retire?.erasedAtMs).not.toBeNull();
    m.job({ state: "completed" });
    m.pass();
    expect(m.device.status).toBe("offline");
  });

  it("orphan: of a record that went back to the run before: adopted, the old run is not begun again", () => {
    const m = installed();
    const old = m.record;
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.record = old;
    const lines = m.pass();
    expect(runs(lines)).toEqual([]);
    expect(m.record.run).toMatchObject({ name: workflowOf("wipe", 2), phase: "waiting" });
  });

  it("orphan: of a record that went back to the middle of a start: neither is run twice", () => {
    const m = new Model();
    m.owner({ desiredAction: "attest" }, request(1));
    m.until("put-record", (record) => record.run?.phase === "starting");
    const old = m.record;
    m.pass();
    attests(m);
    m.agent(1, "SUCCESS");
    m.pass();
    if (m.bootPlane !== null) m.bootPlane.workflows = [];
    m.record = old;
    expect(runs([...m.pass(), ...m.pass()])).toEqual([]);
    expect(m.record.run).toMatchObject({ phase: "ended", result: "stopped" });
  });

  it("orphan: another's Workflow of that machine, without fleetd's kind and request, is none", () => {
    const m = wiping();
    m.workflow(null, { kind: "", requestId: "" });
    m.record = newRecord(7, "w1");
    m.pass();
    expect(m.record.run).toBeNull();
  });

  it("orphan: the Workflow of the run before a withdrawn one is none: its end is known", () => {
    const m = installed();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.until("put-record", (record) => record.run?.phase === "starting");
    m.owner({ protected: true }, request(3));
    m.pass();
    expect(times(m, "had no record")).toBe(0);
    expect(m.record.run).toMatchObject({ kind: "wipe", result: "withdrawn" });
  });
});

it("a run that began in the moment in which it was withdrawn goes on, and its record was late", () => {
  const m = new Model();
  m.owner({ desiredAction: "wipe" }, request(1));
  m.until("create-workflow");
  m.write({ installDiskSerial: null });
  m.until("put-record", (record) => record.run?.result === "withdrawn");
  // Another actor's enabling was on its way.
  m.workflow(null, { disabled: false, state: "RUNNING" });
  m.agent(1, "RUNNING");
  m.write({ installDiskSerial: "S4XYNX0R123456" });
  const lines = m.pass();
  expect(runs(lines)).toEqual([]);
  expect(said(lines)).toContain("journal warning: wipe began before it could be withdrawn: its record was late");
  expect(m.record).toMatchObject({ run: { phase: "running" }, lastRequests: { install: { id: request(1) } } });
});

describe("records and their loss: new Workflows for old requests, zero (invariant 18)", () => {
  const everything = (m: Model) => {
    m.record = newRecord(7, "w1");
    m.fleet = newFleetRecord(m.nowMs);
    m.bootPlane = { hardware: [], workflows: [], machines: [], jobs: [] };
    m.minutes(1);
  };

  it.each(["provision", "attest", "wipe"])("lost: all stores at once while %s was asked: held", (desiredAction) => {
    const m = new Model();
    m.owner({ desiredAction }, request(1));
    everything(m);
    expect(runs([...m.pass(), ...m.pass()])).toEqual([]);
    expect(conditions(m)).toContain("RequestHeld/request-held");
  });

  it("lost: all stores at once in a retirement: held", () => {
    const m = retiring();
    everything(m);
    expect(runs(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["RequestHeld/request-held"]);
  });

  it("lost: the change log cannot be read: nothing runs, and that is said", () => {
    const m = declared();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.changes = null;
    expect(runs(m.pass())).toEqual([]);
    expect(conditions(m)).toContain("RequestsUnreadable/change-log");
  });

  it("lost: a PATCH of the same value, or an older row saved again, is no request: cleared, said", () => {
    const m = installed();
    m.owner({ desiredAction: "attest" }, request(2));
    m.pass();
    attests(m);
    m.agent(1, "SUCCESS");
    m.pass();
    m.write({ desiredAction: "attest" });
    const lines = m.pass();
    expect(runs(lines)).toEqual([]);
    expect(acts(lines)).toContain("netbox: desiredAction=null");
    m.changes = [
      {
        requestId: request(3),
        atMs: m.nowMs,
        user: "fleetd",
        action: "update",
        before: { status: "active", desiredAction: null, approvedEks: null },
        after: { status: "active", desiredAction: "wipe", approvedEks: null },
      },
      ...(m.changes ?? []),
    ];
    m.write({ desiredAction: "wipe" });
    expect(runs(m.pass()), "fleetd's own entry is no request").toEqual([]);
    expect(conditions(m)).toContain("RequestHeld/request-held");
  });
});
