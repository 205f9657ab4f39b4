import { describe, expect, it } from "vitest";
import { attests, installed, request } from "../scenarios/acts.ts";
import { CLASSES } from "../scenarios/fixtures.ts";
import type { Model } from "../scenarios/model.ts";
import { acts, conditions, said } from "./seen.ts";

describe("rows 18 and 19: attest", () => {
  function attesting(): Model {
    const m = installed();
    m.owner({ desiredAction: "attest" }, request(2));
    m.pass();
    return m;
  }

  it("row 18: a verdict in this run, and SUCCESS: attested, status unchanged", () => {
    const m = attesting();
    attests(m);
    m.agent(1, "SUCCESS");
    m.pass();
    expect([m.record.run?.result, m.device.status, conditions(m)]).toEqual(["attested", "active", []]);
  });

  it("row 18: a pass lifts a quarantine", () => {
    const m = attesting();
    attests(m, "fail", ["not-hookos"]);
    m.pass();
    expect(conditions(m)).toContain("Quarantined/by-intake");
    attests(m);
    m.agent(1, "SUCCESS");
    m.pass();
    expect([m.record.quarantine, m.cluster?.node?.taints]).toEqual([null, []]);
  });

  it("row 18: a refused quote is a verdict too, and said as one", () => {
    const m = attesting();
    attests(m, "fail", ["not-hookos"]);
    m.agent(1, "SUCCESS");
    expect(said(m.pass())).toContain("journal warning: attest ended: the machine attested, and its quote was refused");
    expect(m.record.run?.result).toBe("attested");
  });

  it("row 18: killed between the enabling and its record, the verdict of that boot is this run's", () => {
    const m = attesting();
    const { run } = m.record;
    if (run === null) throw new Error("no run");
    m.record = { ...m.record, run: { ...run, phase: "starting" } };
    attests(m);
    m.agent(1, "SUCCESS");
    m.pass();
    expect(m.record.run?.result).toBe("attested");
  });

  it("row 18: before it is enabled, a verdict is of no boot of its own", () => {
    const m = attesting();
    const { run } = m.record;
    if (run === null) throw new Error("no run");
    m.record = { ...m.record, run: { ...run, phase: "starting", enabledAtMs: null } };
    attests(m);
    expect(m.record.run?.verdictAtMs).toBeNull();
  });

  it("row 19: SUCCESS without a verdict is a warning", () => {
    const m = attesting();
    m.agent(1, "SUCCESS");
    expect(said(m.pass())).toContain("journal warning: attest ended without a verdict: the machine did not attest");
    expect([m.record.run?.result, m.device.status, conditions(m)]).toEqual([
      "no-verdict",
      "active",
      ["RunFailed/no-verdict"],
    ]);
  });

  it("row 19: a failure leaves the status, and what is installed", () => {
    const m = attesting();
    m.agent(0, "FAILED", "FAILED");
    m.pass();
    expect([m.record.run?.result, m.device.status, m.record.installed === null]).toEqual(["failed", "active", false]);
  });
});

describe("rows 19a and 19b: wipe", () => {
  it("row 19a: every action SUCCESS: Node, CSRs and token go; it stays planned, and in HookOS", () => {
    const m = installed();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.agent(2, "SUCCESS");
    const lines = m.pass();
    expect(acts(lines)).toEqual([
      "apply Hardware allowPXE=false",
      "delete-node w1",
      "delete-csr node-csr-1",
      "netbox: fleetRun=…",
      "free-slot",
    ]);
    expect([m.record.run?.result, m.device.status, m.record.installed]).toEqual(["wiped", "planned", null]);
    expect(conditions(m)).toEqual(["NoRequest/no-request"]);
  });

  it("row 19a: with the cluster down the Node is owed, and goes once it answers", () => {
    const m = installed();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.agent(2, "SUCCESS");
    const { cluster } = m;
    m.cluster = null;
    m.pass();
    expect(conditions(m)).toContain("ClusterUnavailable/cluster-unavailable");
    m.cluster = cluster;
    expect(acts(m.pass())).toEqual(["delete-node w1", "delete-csr node-csr-1"]);
  });

  it("row 19a: a class without a payload: provision wipes, stays in HookOS, and leaves no Node", () => {
    const m = installed();
    m.classes = { ...CLASSES, bare: { ...CLASSES["talos-worker"], payload: "none" } as never };
    m.write({ fleetClass: "bare" });
    m.owner({ desiredAction: "provision" }, request(2));
    m.pass();
    m.agent(6, "SUCCESS");
    const lines = m.pass();
    expect(m.record.run?.result).toBe("success");
    expect(acts(lines)).toContain("delete-node w1");
    expect(said(lines)).toContain(
      "journal success: provision ended: the disk is wiped, and its class installs nothing",
    );
    expect(m.device.status).toBe("planned");
  });

  it("row 19b: else it failed, as row 16", () => {
    const m = installed();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.agent(1, "FAILED", "FAILED");
    const lines = m.pass();
    expect(said(lines)).toContain("journal warning: wipe failed at action wipe (FAILED); a disk action had begun");
    expect(acts(lines)).not.toContain("delete-node w1");
    expect(m.device.status).toBe("planned");
  });
});
