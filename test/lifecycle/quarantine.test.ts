import { describe, expect, it } from "vitest";
import { spireNodes } from "../../shared/fleet/manifests/spire-nodes.ts";
import { afterIntake } from "../../shared/fleet/plan/quarantine.ts";
import { renewalBar } from "../../shared/fleet/plan/renewal.ts";
import { attests, declared, installed, installs, request, UUID } from "../scenarios/acts.ts";
import type { Model } from "../scenarios/model.ts";
import { acts, conditions, said, times } from "./seen.ts";

const listed = (m: Model) => spireNodes([m], m.settings, m.nowMs).map((n) => n.name);
const TAINTED = "node: unschedulable=true taint=true reason=quarantine";

/** The same device, installed as a control plane. */
function controlPlane(): Model {
  const m = installed();
  const { installed: inst } = m.record;
  if (inst === null) throw new Error("not installed");
  const cls = { ...inst.class, class: { ...inst.class.class, workload: "controlplane" as const } };
  m.record = { ...m.record, installed: { ...inst, class: cls } };
  return m;
}

describe("a worker whose quote is refused", () => {
  it("quarantine: verdict in NetBox, cordon and taint, off SPIRE's list, said once", () => {
    const m = installed();
    attests(m, "fail", ["authority-not-accepted"]);
    const lines = m.pass();
    expect(acts(lines)[0]).toBe(TAINTED);
    expect(acts(lines)[1]).toContain("attestationVerdict=fail");
    m.pass();
    expect(times(m, "journal danger: cordoned and tainted")).toBe(1);
    expect(conditions(m)).toEqual(["AttestationFailed/authority-not-accepted", "Quarantined/by-intake"]);
    expect(listed(m)).toEqual([]);
    expect(m.device.status).toBe("active");
  });

  it("quarantine: asserted every pass: a node undoes its own cordon, not its taint", () => {
    const m = installed();
    attests(m, "fail");
    m.pass();
    if (m.cluster?.node) m.cluster.node = { ...m.cluster.node, unschedulable: false };
    expect(acts(m.pass())).toEqual([TAINTED]);
    expect(acts(m.pass())).toEqual([]);
  });

  it("quarantine: the verdict edited in NetBox is written back", () => {
    const m = installed();
    attests(m, "fail");
    m.pass();
    m.write({ shown: { ...m.device.shown, attestationVerdict: "pass" } });
    expect(acts(m.pass())).toEqual(["netbox: attestationVerdict=fail"]);
    expect(listed(m)).toEqual([]);
  });

  it("quarantine: it bars no renewal quote, which is judged; the bar is elsewhere", () => {
    const m = installed();
    attests(m, "fail");
    m.pass();
    expect(renewalBar(m.device, m.record)).toBeNull();
  });

  it("quarantine: set by an intake, a passing intake ends it: own cordon and taint go", () => {
    const m = installed();
    attests(m, "fail");
    m.pass();
    attests(m);
    expect(acts(m.pass())).toEqual([
      "node: unschedulable=false taint=false reason=null",
      expect.stringContaining("attestationVerdict=pass"),
    ]);
    expect([conditions(m), listed(m)]).toEqual([[], ["w1"]]);
  });

  it("quarantine: a new provision ends it", () => {
    const m = installed();
    attests(m, "fail");
    m.pass();
    m.owner({ desiredAction: "provision" }, request(2));
    m.pass();
    installs(m);
    expect([m.record.quarantine, m.device.status]).toEqual([null, "active"]);
  });

  it("quarantine: a cordon that a person set stays when it ends", () => {
    const m = installed();
    if (m.cluster?.node) m.cluster.node = { ...m.cluster.node, unschedulable: true };
    attests(m, "fail");
    expect(acts(m.pass())).toContain("node: unschedulable=true taint=true reason=null");
    attests(m);
    m.pass();
    expect(m.cluster?.node).toMatchObject({ unschedulable: true, taints: [] });
  });

  it("quarantine: judged by the class that was installed, whatever fleet_class says now", () => {
    const m = installed();
    m.write({ fleetClass: "nosuch" });
    attests(m, "fail");
    m.pass();
    expect(conditions(m)).toContain("Quarantined/by-intake");
  });
});

it("quarantine: a control plane gets the verdict and the alert, and is left in the cluster", () => {
  const m = controlPlane();
  attests(m, "fail", ["not-hookos"]);
  const lines = m.pass();
  expect(acts(lines)).toEqual([expect.stringContaining("attestationVerdict=fail")]);
  expect(said(lines)).toEqual(["journal danger: the last quote was refused: it did not boot HookOS"]);
  expect([conditions(m).filter((c) => !c.startsWith("InstalledClass")), listed(m)]).toEqual([
    ["AttestationFailed/not-hookos"],
    [],
  ]);
});

it("quarantine: one of too many failures at once is a condition only", () => {
  const m = installed();
  const verdict = {
    result: "fail" as const,
    by: "intake" as const,
    atMs: m.nowMs,
    codes: ["not-hookos"],
    heldBack: true,
    dbxHash: null,
    sbatLevel: null,
  };
  m.record = afterIntake(m.record, m.device, verdict, { uuid: UUID, massFailure: true });
  expect(acts(m.pass()).filter((l) => l.startsWith("node:"))).toEqual([]);
  expect(conditions(m)).toEqual(["MassFailure/held-back", "AttestationFailed/not-hookos"]);
});

it("dbx or SbatLevel changed is a journal warning, never a quarantine", () => {
  const m = installed();
  const verdict = { result: "pass" as const, by: "intake" as const, codes: [], dbxHash: "d2", sbatLevel: null };
  m.minutes(1);
  m.record = afterIntake(m.record, m.device, { ...verdict, atMs: m.nowMs }, { uuid: UUID, massFailure: false });
  const lines = m.pass();
  expect(said(lines)).toEqual([expect.stringContaining("journal warning: dbx")]);
  expect([m.record.quarantine, listed(m)]).toEqual([null, ["w1"]]);
});

it("a verdict older than 30 days is a condition, and the node is not listed until it renews", () => {
  const m = installed();
  m.minutes(31 * 1440);
  m.pass();
  expect([conditions(m), listed(m)]).toEqual([["AttestationOld/too-old"], []]);
});

describe("a device that has another's name by mistake", () => {
  /** Declared with the name of a node that is in quarantine, or drained, or reinstalled. */
  function named(held: Partial<NonNullable<NonNullable<Model["cluster"]>["node"]>>): Model {
    const m = declared();
    m.conflict = "shares name w1 with w1 (device 9)";
    m.node();
    if (m.cluster?.node) m.cluster.node = { ...m.cluster.node, ...held };
    m.pass();
    return m;
  }
  const taints = [{ key: "fleetd.dev/quarantine", value: "", effect: "NoSchedule" }];

  it("quarantine: takes nothing from the other's Node (simulation 600391)", () => {
    const held = { unschedulable: true, taints, annotations: { "fleetd.dev/cordon": "quarantine" } };
    expect(named(held).cluster?.node).toMatchObject(held);
  });

  it("quarantine: nor where a person's cordon stands beside fleetd's taint", () => {
    const held = { unschedulable: true, taints, annotations: {} };
    expect(named(held).cluster?.node).toMatchObject(held);
  });
});
