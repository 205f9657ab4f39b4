import { describe, expect, it } from "vitest";
import { attests, installed, request, retiring, workflowOf } from "../scenarios/acts.ts";
import type { Model } from "../scenarios/model.ts";
import { acts, conditions, runs, said } from "./seen.ts";

const RETIRE = (attempt = 1, bootMode = " bootMode=netboot") => [
  `create Workflow ${workflowOf("retire", 9, attempt)}${bootMode}`,
  `enable Workflow ${workflowOf("retire", 9, attempt)}`,
];

/** Installed, a wipe running, and then decommissioning. */
function wiping(bmcType: string | null): Model {
  const m = installed({ bmcType });
  m.owner({ desiredAction: "wipe" }, request(2));
  m.pass();
  m.agent(1, "RUNNING");
  m.pass();
  m.owner({ status: "decommissioning" }, request(9));
  return m;
}

describe("rows 20 and 21: another run in the way", () => {
  it("row 20: no action begun: it is withdrawn without power-off, and the retirement starts", () => {
    const m = installed();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.owner({ status: "decommissioning" }, request(9));
    const lines = m.pass();
    expect(acts(lines).filter((l) => l.startsWith("create Job"))).toEqual([]);
    expect(acts(lines)).toContain(`delete Workflow ${workflowOf("wipe", 2)}`);
    expect(runs(lines)).toEqual(RETIRE());
  });

  it("row 21: running, with a BMC: off, read again, stopped, deleted; then the retirement", () => {
    const m = wiping("redfish");
    expect(acts(m.pass())).toEqual([`create Job ${workflowOf("wipe", 2)}-off-1`]);
    expect(acts(m.pass())).toEqual([]);
    expect(conditions(m)).toContain("RetirementWaits/bmc-off");
    m.job({ state: "completed" });
    const lines = m.pass();
    expect(said(lines)).toContain(
      "journal warning: wipe failed (STOPPED): powered off for retirement; a disk action had begun",
    );
    expect(runs(lines)).toEqual(RETIRE());
    expect(m.bootPlane?.workflows.map((w) => w.name)).toEqual([workflowOf("retire", 9)]);
  });

  it("row 21: once off the run is read again: one that had ended is latched as it ended", () => {
    const m = wiping("redfish");
    m.pass();
    m.job({ state: "completed" });
    // The look that saw the Job completed had read the Workflow before.
    m.until("put-record", (record) => record.retire?.offDone === true);
    m.agent(2, "SUCCESS");
    const lines = m.pass();
    expect(said(lines).join()).not.toContain("STOPPED");
    expect(said(lines)).toContain(
      "journal success: wipe ended by the agent's word: the system disk is wiped and the machine stays in HookOS",
    );
    expect(runs(lines)).toEqual(RETIRE());
  });

  it("row 21: a Job that failed is unknown: the next follows after the back-off, under a new name", () => {
    const m = wiping("redfish");
    m.pass();
    m.job({ state: "failed", problem: "connection refused" });
    expect(said(m.pass()).join()).toContain("that counts as unknown; again in 300 s");
    expect(acts(m.pass())).toEqual([]);
    m.minutes(5);
    expect(acts(m.pass())).toEqual([`create Job ${workflowOf("wipe", 2)}-off-2`]);
    expect(m.record.run?.phase).toBe("running");
  });

  it("row 21: a Job that completed with Tasks of another is no evidence; one without an answer is none either", () => {
    const m = wiping("redfish");
    m.pass();
    m.job({ state: "completed", tasksAreOwn: false });
    expect(said(m.pass()).join()).toContain("counts as unknown");
    m.minutes(5);
    m.pass();
    m.minutes(16);
    expect(said(m.pass()).join()).toContain("off-2: no answer): that counts as unknown");
  });

  it("row 21: no BMC: it waits for the end of the run, or its own deadline", () => {
    const m = wiping(null);
    expect(acts(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["RetirementWaits/run-in-the-way"]);
    m.minutes(77);
    m.pass();
    expect([m.record.run?.terminal?.state, conditions(m).includes("RequestWaits/run-preparing")]).toEqual([
      "DEADLINE",
      true,
    ]);
    m.minutes(1);
    attests(m);
    expect(runs(m.pass())).toEqual(RETIRE(1, ""));
  });
});

describe("rows 22 and 23: the attempts", () => {
  it("row 22: gates first: protected holds the retirement too", () => {
    const m = installed();
    m.owner({ status: "decommissioning", protected: true }, request(9));
    expect(runs(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["RequestWaits/protected"]);
    m.owner({ protected: false }, request(10));
    expect(runs(m.pass())).toEqual(RETIRE());
  });

  it("row 22: an unknown class, another TPM, a class that was never installed hold no retirement up", () => {
    const m = installed();
    m.write({ fleetClass: "nosuch", approvedEks: [] });
    m.owner({ status: "decommissioning" }, request(9));
    expect(runs(m.pass())).toEqual(RETIRE());
  });

  it.each(["FAILED", "TIMEOUT"] as const)(
    "row 23: %s: the action is named, and the next attempt follows after 5 minutes",
    (state) => {
      const m = retiring();
      m.agent(2, state, "FAILED");
      expect(said(m.pass())).toContain(
        `journal warning: retirement attempt 1 failed (retire failed at action erase (${state}); a disk action had begun); the next follows in 300 s`,
      );
      expect(conditions(m)).toEqual(["RetirementWaits/back-off"]);
      m.minutes(4);
      expect(acts(m.pass())).toEqual([]);
      m.minutes(1);
      expect(runs(m.pass())).toEqual(RETIRE(2));
      expect([m.device.status, m.cluster?.node === null]).toEqual(["decommissioning", false]);
    },
  );

  it("row 23: its BMC Job failed: what the BMC said, and that no disk action began", () => {
    const m = retiring();
    m.workflow(null, { state: "FAILED", problem: "connection refused" });
    const lines = said(m.pass()).join("\n");
    expect(lines).toContain("retire failed (FAILED): connection refused; no disk action had begun");
    expect(m.record.retire).toMatchObject({ failures: 1, erasedAtMs: null });
  });

  it("row 23: own deadline counts alike; retries double from 5 minutes to 4 hours, under names never used before", () => {
    const m = retiring();
    const waits: number[] = [];
    for (let k = 1; k <= 8; k++) {
      expect(m.record.run?.name).toBe(workflowOf("retire", 9, k));
      if (k === 1) m.minutes(61);
      else m.agent(1, "FAILED", "FAILED");
      m.pass();
      waits.push(((m.record.retire?.nextTryAtMs ?? 0) - m.nowMs) / 60_000);
      m.minutes(waits.at(-1) ?? 0);
      m.pass();
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 240, 240]);
  });

  it("row 23: nothing but the next attempt's own boot mode powers it on", () => {
    const m = retiring();
    m.agent(2, "FAILED", "FAILED");
    const lines = [...m.pass(), ...m.pass()];
    expect(acts(lines).filter((l) => /create|enable|allowPXE=true/.test(l))).toEqual([]);
  });
});
