import { describe, expect, it } from "vitest";
import { installed, request, workflowOf } from "../scenarios/acts.ts";
import { Model } from "../scenarios/model.ts";
import { conditions, runs } from "./seen.ts";

describe("an old row that somebody saves over the new one is nobody's word (spec/30, Requests)", () => {
  it.each([
    ["wipe", { desiredAction: "wipe" }, { desiredAction: null }],
    ["wipe, replaced by attest", { desiredAction: "wipe" }, { desiredAction: "attest" }],
    ["retirement", { status: "decommissioning" }, { status: "active" }],
  ])("%s: taken back, then shown again: held, and set again it is carried out", (_, asks, takesBack) => {
    const m = new Model({ status: "active" });
    m.owner(asks, request(2));
    m.owner(takesBack, request(3));
    m.write({ desiredAction: null, status: "active", ...asks });
    expect(runs([...m.pass(), ...m.pass()])).toEqual([]);
    expect(conditions(m)).toContain("RequestHeld/request-held");
    m.owner({ desiredAction: null, status: "active" }, request(4));
    m.owner(asks, request(5));
    expect(runs([...m.pass(), ...m.pass()]).length).toBeGreaterThan(0);
  });

  it("planned: taken back, then shown again: nothing is installed", () => {
    const m = new Model({ status: "offline" });
    m.owner({ status: "planned" }, request(2));
    m.owner({ status: "offline" }, request(3));
    m.write({ status: "planned" });
    expect(runs([...m.pass(), ...m.pass("confirm")])).toEqual([]);
    expect(conditions(m)).toContain("RequestHeld/request-held");
  });
});

it("a retirement that is older than a wipe under way, and is carried out first, makes that wipe no fresh request again", () => {
  const m = installed();
  m.lines.length = 0;
  m.write({ protected: true });
  m.owner({ status: "decommissioning" }, request(2));
  m.owner({ status: "active" }, request(3));
  m.owner({ desiredAction: "wipe" }, request(4));
  m.owner({ protected: false }, request(5));
  expect(runs(m.pass())).toContain(`enable Workflow ${workflowOf("wipe", 4)}`);
  // An older fleetd took the retirement of an old row for a fresh one.
  m.changes = (m.changes ?? []).filter((c) => c.requestId !== request(3));
  m.write({ status: "decommissioning" });
  expect(runs([...m.pass(), ...m.pass()])).toContain(`enable Workflow ${workflowOf("retire", 2)}`);
  m.owner({ status: "active", desiredAction: "wipe" }, request(6));
  m.changes = (m.changes ?? []).map((c) =>
    c.requestId === request(6) && c.before !== null ? { ...c, before: { ...c.before, desiredAction: "wipe" } } : c,
  );
  expect(runs([...m.pass(), ...m.pass()])).toEqual([]);
});

it("a record that is back from before its run was enabled, and Tinkerbell empty: NetBox names the run, which is not made again", () => {
  const m = new Model();
  m.owner({ desiredAction: "wipe" }, request(1));
  m.until("create-workflow");
  const before = m.record;
  m.pass();
  expect(m.record.run?.phase).toBe("waiting");
  m.record = before;
  if (m.bootPlane !== null) m.bootPlane.workflows = [];
  expect(runs([...m.pass(), ...m.pass()])).toEqual([]);
  expect(m.record.run).toMatchObject({ phase: "ended", result: "stopped" });
});

describe("the fleet's memory is lost while a disk run is being started", () => {
  it("row 9: its slot is taken again before anything is enabled", () => {
    const m = new Model();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.until("create-workflow");
    m.fleet = { ...m.fleet, slots: [] };
    const lines = m.pass();
    expect(lines.indexOf("take-slot")).toBeGreaterThan(-1);
    expect(lines.indexOf("take-slot")).toBeLessThan(lines.indexOf(`enable Workflow ${workflowOf("wipe", 1)}`));
  });

  it("row 9a: others have all slots by then: withdrawn, and the request waits for one", () => {
    const m = new Model();
    m.settings = { ...m.settings, maxDiskRuns: 1 };
    m.owner({ desiredAction: "wipe" }, request(1));
    m.until("create-workflow");
    m.fleet = { ...m.fleet, slots: [{ deviceId: 99, run: "f99-wipe-1", sinceMs: m.nowMs }] };
    expect(m.pass().filter((l) => l.startsWith("enable"))).toEqual([]);
    expect([m.device.desiredAction, conditions(m)]).toEqual(["wipe", ["RequestWaits/slot"]]);
    m.fleet = { ...m.fleet, slots: [] };
    expect(m.pass()).toContain(`enable Workflow ${workflowOf("wipe", 1, 2)}`);
  });
});

describe("all records are lost, the fleet's memory is one from before, and somebody's older row is saved over (simulation 700127)", () => {
  /** fleetd's own write, as NetBox's change log has it. */
  function answers(m: Model, before: Asked, after: Asked): void {
    const values = { status: "active", desiredAction: null, approvedEks: null };
    const entry = { requestId: request(3), atMs: m.nowMs, user: "fleetd", action: "update" as const };
    m.changes = [{ ...entry, before: { ...values, ...before }, after: { ...values, ...after } }, ...(m.changes ?? [])];
  }
  type Asked = { readonly status?: string; readonly desiredAction?: string | null };

  it.each([
    ["wipe", { status: "planned", desiredAction: "wipe" }, { status: "planned", desiredAction: null }],
    ["attest", { status: "active", desiredAction: "attest" }, { status: "active", desiredAction: null }],
    ["planned", { status: "planned" }, { status: "active" }],
    ["retirement", { status: "decommissioning" }, { status: "offline" }],
  ])("%s: NetBox's log says that fleetd answered it: it is not carried out again", (_, asks, answered) => {
    const m = new Model({ status: "failed" });
    m.owner(asks, request(2));
    answers(m, asks, answered);
    m.minutes(1);
    m.write(asks);
    expect(runs([...m.pass(), ...m.pass("confirm")])).toEqual([]);
    // What is kept of the log says so as well.
    m.write({});
    if (m.record.log !== null) m.record = { ...m.record, log: { ...m.record.log, row: m.device.lastUpdated } };
    m.changes = [...(m.record.log?.entries ?? [])];
    m.write({ ...asks });
    expect(runs([...m.pass(), ...m.pass("confirm")])).toEqual([]);
    m.owner({ desiredAction: null, status: "failed" }, request(4));
    m.owner(asks, request(5));
    expect(runs([...m.pass(), ...m.pass("confirm")]).length).toBeGreaterThan(0);
  });
});
