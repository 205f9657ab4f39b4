import { describe, expect, it } from "vitest";
import { declared, erased, installed, kubeletAsks, off, request, retiring, workflowOf } from "../scenarios/acts.ts";
import { acts, conditions, runs, said } from "./seen.ts";

describe("rows 32 and 33: an owner steps in", () => {
  it("row 32: set back before the run began: withdrawn, and the status is the owner's", () => {
    const m = retiring();
    m.owner({ status: "active" }, request(10));
    const lines = m.pass();
    expect(acts(lines)).toContain(`delete Workflow ${workflowOf("retire", 9)}`);
    expect([m.device.status, m.record.retire, m.record.installed === null, conditions(m)]).toEqual([
      "active",
      null,
      false,
      [],
    ]);
    expect(said(lines)).toContain("journal info: retirement was taken back by its owner");
  });

  it("row 32: once it has begun it ends as a wipe: Node, CSRs and token go, nothing is installed", () => {
    const m = retiring();
    m.agent(1, "RUNNING");
    m.pass();
    m.owner({ status: "active" }, request(10));
    expect(acts(m.pass())).toEqual([]);
    m.agent(4, "SUCCESS");
    const lines = m.pass();
    expect(acts(lines)).toContain("delete-node w1");
    expect([m.device.status, m.record.retire, m.record.installed]).toEqual(["active", null, null]);
    expect(conditions(m)).toEqual(["StatusNotEarned/not-served"]);
  });

  it("row 32: taken back after its erasure, and brought back by somebody's save of an old row: held, nothing is erased again", () => {
    const m = retiring();
    m.agent(1, "RUNNING");
    m.pass();
    m.owner({ status: "active" }, request(10));
    m.agent(4, "SUCCESS");
    m.pass();
    m.changes = (m.changes ?? []).filter((c) => c.requestId !== request(10));
    m.write({ status: "decommissioning" });
    expect(runs([...m.pass(), ...m.pass()])).toEqual([]);
    expect([m.device.status, m.record.retire, conditions(m)]).toEqual([
      "decommissioning",
      null,
      ["RequestHeld/request-held"],
    ]);
    m.owner({ status: "active" }, request(11));
    m.pass();
    m.owner({ status: "decommissioning" }, request(12));
    expect(runs(m.pass())).toContain(`enable Workflow ${workflowOf("retire", 12)}`);
  });

  it("row 33: set offline by hand while another run goes on: it may end, and netboots until then", () => {
    const m = installed({ bmcType: null, oobAddress: null });
    m.owner({ desiredAction: "provision" }, request(8));
    m.pass();
    m.agent(3, "RUNNING");
    m.pass();
    m.owner({ status: "decommissioning" }, request(9));
    m.pass();
    m.owner({ status: "offline" }, request(10));
    m.pass();
    m.pass();
    const allowed = () => m.bootPlane?.hardware.map((h) => h.allowPxe);
    expect([m.record.run?.phase, m.record.retire?.offlineAtMs === null, allowed()]).toEqual(["running", false, [true]]);
    m.agent(6, "SUCCESS");
    m.pass();
    expect([m.record.run?.phase, allowed()]).toEqual(["ended", [false]]);
  });

  it("row 33: set offline by hand: the cluster's steps only, and a danger line", () => {
    const m = retiring();
    m.agent(1, "FAILED", "FAILED");
    m.pass();
    m.owner({ status: "offline" }, request(10));
    const lines = m.pass();
    expect(said(lines)).toContain("journal danger: set offline by hand: not erased as far as fleetd knows");
    expect(acts(lines)).toContain("delete-node w1");
    expect(runs(lines)).toEqual([]);
    expect(m.record.retire?.offlineAtMs).not.toBeNull();
  });

  it("row 33: erased, and not seen off: that is what the line says", () => {
    const m = erased();
    m.owner({ status: "offline" }, request(10));
    expect(said(m.pass())).toContain("journal danger: set offline by hand: erased, and not off as far as fleetd knows");
  });
});

describe("row 33: set offline by hand, and never installed: its name alone says which Node is its own", () => {
  function closedByHand(othersNode: string | null) {
    const m = declared();
    m.owner({ status: "decommissioning" }, request(9));
    m.conflict = "shares name w1 with w1 (device 9)";
    m.pass();
    m.node();
    kubeletAsks(m, { username: "system:bootstrap:others" });
    m.owner({ status: "offline" }, request(10));
    m.othersNode = othersNode;
    const lines = m.pass();
    return { m, lines };
  }

  it("row 33: another device has the name: its Node and CSRs are left, and that is said", () => {
    const { m, lines } = closedByHand("w1 (device 9)");
    expect(acts(lines)).toEqual([]);
    expect(said(lines)).toContain("journal warning: Node and CSRs of its name are left: w1 (device 9) has it too");
    expect(m.cluster?.node?.unschedulable).toBe(false);
    expect(m.record.retire?.offlineAtMs).not.toBeNull();
    expect(acts(m.pass())).toEqual([]);
  });

  it("row 33: nobody else has it: Node and CSRs go", () => {
    const { lines } = closedByHand(null);
    expect(acts(lines)).toEqual(expect.arrayContaining(["delete-node w1", "delete-csr node-csr-1"]));
  });
});

it("row 31: erased, never installed as far as the record knows, and another device has its name by now: its Node is left", () => {
  const m = erased();
  m.record = { ...m.record, installed: null, identity: null };
  m.othersNode = "w1 (device 9)";
  m.job({ state: "completed" });
  m.pass();
  expect([m.device.status, m.cluster?.node?.unschedulable]).toEqual(["offline", false]);
});

describe("row 12: an action of a device that is being retired", () => {
  it("row 12: it waits; asked before the retirement, it is cleared with it and said", () => {
    const m = installed();
    m.write({ protected: true });
    m.owner({ desiredAction: "provision" }, request(2));
    m.owner({ status: "decommissioning" }, request(9));
    m.owner({ protected: false }, request(10));
    m.pass();
    expect(conditions(m)).toContain("RequestWaits/decommissioning");
    m.agent(4, "SUCCESS");
    m.pass();
    m.job({ state: "completed" });
    const lines = m.pass();
    expect(acts(lines)).toContain("netbox: status=offline desiredAction=null");
    expect(said(lines)).toContain("journal info: provision was asked before the retirement: cleared with it");
  });

  it("row 12: asked after it, it stays its owner's, and waits for planned", () => {
    const m = retiring();
    m.owner({ desiredAction: "wipe" }, request(10));
    m.agent(4, "SUCCESS");
    m.pass();
    m.job({ state: "completed" });
    m.pass();
    m.pass();
    expect([m.device.status, m.device.desiredAction, conditions(m)]).toEqual([
      "offline",
      "wipe",
      ["StatusForbids/offline"],
    ]);
  });
});

it("row 31: offline over decommissioning, slot free, allowPXE off, what the machine was is forgotten", () => {
  const m = off();
  expect([m.device.status, m.fleet.slots, m.bootPlane?.hardware.map((h) => h.allowPxe)]).toEqual([
    "offline",
    [],
    [false],
  ]);
  expect(m.record).toMatchObject({ installed: null, identity: null, token: null, config: null, node: null });
  expect(conditions(m)).toEqual([]);
});
