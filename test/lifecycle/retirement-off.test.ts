import { describe, expect, it } from "vitest";
import { attests, erased, retiring } from "../scenarios/acts.ts";
import type { Model } from "../scenarios/model.ts";
import { acts, conditions, runs, said, times } from "./seen.ts";

function power(m: Model, powerState: "on" | "off"): void {
  if (m.bootPlane !== null) m.bootPlane.machines = m.bootPlane.machines.map((b) => ({ ...b, powerState }));
}

function aPodThatStays() {
  const pod = { namespace: "default", name: "web", uid: "p1", node: "w1", phase: "Running" };
  return { ...pod, terminating: false, mirror: false, daemonSet: false };
}

describe("rows 24 to 26: erased, then off by evidence made afterwards", () => {
  it("row 24: SUCCESS in order is latched, and the disk is never erased again", () => {
    const m = erased();
    expect(m.record.retire?.erasedAtMs).not.toBeNull();
    m.agent(2, "FAILED", "FAILED");
    m.minutes(600);
    expect(runs([...m.pass(), ...m.pass()])).toEqual([]);
  });

  it("row 25: an off Job made now; a failed one is unknown; the danger line after 15 minutes, once", () => {
    const m = erased();
    expect(m.bootPlane?.jobs.map((j) => j.name)).toEqual(["f7-retire-00000009aaaa-off-1"]);
    m.job({ state: "failed", problem: "connection refused" });
    m.pass();
    m.minutes(16);
    m.pass();
    m.pass();
    expect(times(m, "journal danger: the BMC has not said off")).toBe(1);
    expect(conditions(m)).toEqual(["RetirementWaits/bmc-off", "RetirementStuck/bmc-off"]);
    m.job({ state: "completed" });
    m.pass();
    expect(m.record.retire?.offAtMs).not.toBeNull();
    expect(conditions(m)).toEqual([]);
  });

  it("row 25: the back-off of off Jobs goes by failures in a row, from 5 minutes to 4 hours", () => {
    const m = erased();
    const waits: number[] = [];
    for (let n = 1; n <= 8; n++) {
      m.job({ state: "failed" });
      m.pass();
      waits.push(((m.record.retire?.offNextTryAtMs ?? 0) - m.nowMs) / 60_000);
      m.minutes(waits.at(-1) ?? 0);
      m.pass();
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 240, 240]);
    expect(new Set(m.bootPlane?.jobs.map((j) => j.name)).size).toBe(9);
  });

  it("row 25: an off that was there already is no evidence: only the Job's end is", () => {
    const m = erased();
    if (m.bootPlane !== null) m.bootPlane.machines = m.bootPlane.machines.map((b) => ({ ...b, powerState: "off" }));
    m.pass();
    expect(m.record.retire?.offAtMs).toBeNull();
  });

  it("row 25: no BMC: the agent's report, and the journal says so", () => {
    const m = retiring({ bmcType: null });
    m.agent(4, "SUCCESS");
    const lines = m.pass();
    expect(said(lines)).toContain("journal warning: the device has no BMC: that it is off is the agent's word alone");
    expect(m.device.status).toBe("offline");
  });

  it("row 26: seen on after it was seen off: the evidence is void, and the cluster's steps stop", () => {
    const m = erased();
    m.job({ state: "completed" });
    if (m.cluster) m.cluster.pods = [aPodThatStays()];
    m.pass();
    power(m, "off");
    m.pass();
    power(m, "on");
    const lines = m.pass();
    expect(said(lines)).toContain("journal danger: the machine was on again after the BMC had said off: evidence void");
    expect(acts(lines)).toEqual(["create Job f7-retire-00000009aaaa-off-2"]);
    expect(conditions(m)).toEqual(["RetirementWaits/bmc-off"]);
  });

  it("row 26: an on that nobody saw follow an off is only old", () => {
    const m = erased();
    m.job({ state: "completed" });
    if (m.cluster) m.cluster.pods = [aPodThatStays()];
    m.pass();
    power(m, "on");
    m.pass();
    expect(m.record.retire?.offAtMs).not.toBeNull();
  });

  it("row 26: an attest session of it whose activations passed voids it too", () => {
    const m = erased();
    m.job({ state: "completed" });
    if (m.cluster) m.cluster.pods = [aPodThatStays()];
    m.pass();
    m.minutes(1);
    attests(m);
    m.pass();
    expect(m.record.retire?.offAtMs).toBeNull();
    expect(m.device.status).toBe("decommissioning");
  });
});
