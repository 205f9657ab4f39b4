import { describe, expect, it } from "vitest";
import { admissionAnswer, withHookosAgain } from "../../shared/fleet/plan/admit.ts";
import { claimed, released } from "../../shared/fleet/plan/config-access.ts";
import { attests, declared, installed, kubeletAsks, minted, reads, request, workflowOf } from "../scenarios/acts.ts";
import { Model } from "../scenarios/model.ts";
import { acts, conditions, runs, said, times } from "./seen.ts";

/** A first install whose code is minted and whose first two actions are done. */
function installing(): Model {
  const m = declared();
  attests(m);
  m.pass("confirm");
  minted(m);
  m.agent(2, "RUNNING");
  m.pass();
  m.lines.length = 0;
  return m;
}

/** Installed by the agent's word, the configuration unread. */
function unread(): Model {
  const m = installing();
  m.agent(6, "SUCCESS");
  m.pass();
  return m;
}

describe("row 14: a served configuration is success, whatever the Workflow says", () => {
  it.each(["FAILED", "TIMEOUT", "RUNNING", "SUCCESS"] as const)("row 14: the Workflow says %s", (state) => {
    const m = installing();
    m.agent(4, state, "FAILED");
    reads(m);
    const lines = m.pass();
    expect(m.record.run).toMatchObject({ phase: "ended", result: "success" });
    expect(acts(lines).join()).toContain("netbox: status=active");
    expect([m.device.status, m.fleet.slots, conditions(m)]).toEqual(["active", [], []]);
    expect(said(lines)).toContain("journal success: active: its configuration was served to its last byte");
  });

  it.each(["lost", "broken at its end"])("row 14: a CSR by the run's token: read, though its serving was %s", (how) => {
    const m = unread();
    const serving = claimed("h", "n", "10.0.0.7", m.nowMs)(m.record) ?? m.record;
    if (how === "lost") {
      m.record = serving;
      m.minutes(12);
      m.pass();
      expect(m.record.config?.state).toBe("lost");
    } else m.record = released("n", { bytesSent: 9000 }, m.nowMs)(serving) ?? m.record;
    kubeletAsks(m);
    const lines = m.pass();
    expect(said(lines)).toContain("journal info: CSR node-csr-1 was made with its token: its configuration was read");
    expect(acts(lines)).toContain("approve CSR node-csr-1");
    expect([m.record.run?.result, m.device.status, m.record.config?.state]).toEqual(["success", "active", "served"]);
  });

  it("row 14: a CSR by another's token says nothing", () => {
    const m = unread();
    const serving = claimed("h", "n", "10.0.0.7", m.nowMs)(m.record) ?? m.record;
    m.record = released("n", { bytesSent: 9000 }, m.nowMs)(serving) ?? m.record;
    kubeletAsks(m, { username: "system:bootstrap:wide00" });
    m.pass();
    expect([m.record.config?.state, m.device.status]).toEqual(["unread", "planned"]);
  });

  it("row 14: active is written over planned only: what an owner set meanwhile stays", () => {
    const m = unread();
    reads(m);
    m.owner({ status: "decommissioning" }, request(2));
    m.pass();
    expect(m.device.status).toBe("decommissioning");
  });
});

describe("row 15: SUCCESS with the configuration unread", () => {
  it("row 15: the device stays planned and waits for its machine, for as long as 7 days", () => {
    const m = unread();
    expect([m.record.run?.result, m.device.status, conditions(m)]).toEqual([
      "unread",
      "planned",
      ["ConfigUnread/unread"],
    ]);
    m.minutes(6.9 * 1440);
    expect(acts(m.pass())).toEqual(["keep-config"]);
    expect(m.record.config?.state).toBe("unread");
  });

  it("row 15: HookOS seen again: said once a run, no code, no run", () => {
    const m = unread();
    attests(m);
    m.record = withHookosAgain(m.record, m.nowMs);
    expect(runs(m.pass("confirm"))).toEqual([]);
    expect(admissionAnswer(m.observed("confirm"))).toEqual({ outcome: "attested" });
    m.record = withHookosAgain(m.record, m.nowMs);
    m.pass();
    expect(conditions(m)).toContain("NodeBootedHookOSAfterInstall/boot-order");
    expect(times(m, "journal danger: booted HookOS again")).toBe(1);
  });

  it("row 15: a run that ends in HookOS expects it: nothing is said", () => {
    const m = unread();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    attests(m);
    expect(withHookosAgain(m.record, m.nowMs)).toBe(m.record);
  });
});

describe("row 16: an install that failed", () => {
  it("row 16: names the action and what began; configuration and token go; it stays planned", () => {
    const m = installing();
    m.agent(3, "FAILED", "FAILED");
    const lines = m.pass();
    expect(said(lines)).toContain(
      "journal warning: provision failed at action install-talos (FAILED); a disk action had begun",
    );
    expect(acts(lines)).toEqual([
      "apply Hardware allowPXE=false",
      "drop-config",
      "delete-token abcdef",
      "netbox: fleetRun=…",
      "free-slot",
    ]);
    expect([m.device.status, m.record.config?.state, conditions(m)]).toEqual([
      "planned",
      "removed",
      ["NoRequest/no-request", "RunFailed/failed"],
    ]);
  });

  it.each([
    ["TIMEOUT", 3, "PENDING", "provision failed at action install-talos (TIMEOUT)"],
    ["SUCCESS", 4, "PENDING", "the agent reported SUCCESS, but action next-boot is PENDING"],
  ] as const)("row 16: %s with actions missing", (state, done, failing, words) => {
    const m = installing();
    m.agent(done, state, failing);
    expect(said(m.pass()).join()).toContain(words);
    expect(m.record.run?.result).toBe("failed");
  });

  it("row 16: actions that did not end in order are no success", () => {
    const m = installing();
    m.agent(6, "SUCCESS");
    m.workflow(null, {
      actions: (m.bootPlane?.workflows[0]?.actions ?? []).map((a, i) => ({ ...a, stoppedAtMs: m.nowMs - i })),
    });
    expect(said(m.pass()).join()).toContain("the actions did not end in order");
  });

  it("row 16: the first terminal state stays, whatever the agent says later", () => {
    const m = installing();
    m.agent(3, "FAILED", "FAILED");
    m.pass();
    m.agent(6, "SUCCESS");
    m.pass();
    expect(m.record.run).toMatchObject({ result: "failed", terminal: { state: "FAILED", action: "install-talos" } });
  });

  it("row 16: nothing begun, by its BMC's Job: that it may have left the machine off", () => {
    const m = installed();
    m.owner({ desiredAction: "provision" }, request(2));
    m.pass();
    m.workflow(null, { state: "FAILED", problem: "job failed" });
    const lines = m.pass();
    expect(said(lines)).toContain(
      "journal warning: provision failed (FAILED): job failed; no disk action had begun; its BMC Job may have left the machine off (the BMC last said on)",
    );
    expect(m.record.conditions.find((c) => c.type === "RunFailed")?.message).toContain("the old system may still run");
    expect(m.record.installed).not.toBeNull();
    m.owner({ status: "active" }, request(3));
    m.pass();
    expect([m.device.status, conditions(m).includes("StatusNotEarned/not-served")]).toEqual(["active", false]);
  });

  it.each([
    ["with a BMC 1 h", "redfish", 61],
    ["without a BMC 24 h", null, 1441],
  ] as const)("row 16: own deadline, not begun: %s", (_name, bmcType, minutes) => {
    const m = new Model({ bmcType });
    m.owner({ desiredAction: "wipe" }, request(1));
    m.pass();
    m.minutes(minutes - 3);
    m.pass();
    expect(m.record.run?.phase).toBe("waiting");
    m.minutes(3);
    const lines = m.pass();
    expect(m.record.run).toMatchObject({ result: "failed", terminal: { state: "DEADLINE", action: null } });
    expect(acts(lines)).toContain(`delete Workflow ${workflowOf("wipe", 1)}`);
  });

  it("row 16: own deadline, begun: the Template's timeouts and 15 minutes, the action named", () => {
    const m = installing();
    m.minutes(74);
    m.pass();
    expect(m.record.run?.phase).toBe("running");
    m.minutes(2);
    m.pass();
    expect(m.record.run).toMatchObject({ result: "failed", terminal: { state: "DEADLINE", action: "wipe" } });
  });

  it("a run ended while RUNNING may still run: a boot mode, or a session after the end, before the next", () => {
    const m = new Model({ bmcType: null });
    m.owner({ desiredAction: "wipe" }, request(1));
    m.pass();
    m.agent(1, "RUNNING");
    attests(m);
    m.pass();
    m.minutes(76);
    m.pass();
    m.owner({ desiredAction: "wipe" }, request(2));
    expect(runs(m.pass())).toEqual([]);
    expect(conditions(m)).toContain("RequestWaits/run-preparing");
    const endedAtMs = m.record.run?.terminal?.atMs ?? 0;
    attests(m);
    m.record = { ...m.record, lastSessionBegunAtMs: endedAtMs - 1 };
    expect(runs(m.pass()), "begun before the end").toEqual([]);
    attests(m);
    expect(runs(m.pass())).toHaveLength(2);
  });

  it("a run whose Workflow was taken away while RUNNING may still run too", () => {
    const m = new Model({ bmcType: null });
    m.owner({ desiredAction: "wipe" }, request(1));
    m.pass();
    m.agent(1, "RUNNING");
    m.pass();
    if (m.bootPlane !== null) m.bootPlane.workflows = [];
    m.pass();
    expect([m.record.run?.result, conditions(m).includes("RunFailed/stopped")]).toEqual(["stopped", true]);
    m.owner({ desiredAction: "wipe" }, request(2));
    expect(runs(m.pass())).toEqual([]);
  });

  it("a disk action that began after the deadline still ends what was installed", () => {
    const m = installed();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.agent(0, "RUNNING");
    m.pass();
    m.minutes(76);
    m.pass();
    expect([m.record.run?.result, m.record.installed === null]).toEqual(["failed", false]);
    m.agent(1, "RUNNING");
    m.pass();
    expect([m.record.run?.diskBegun, m.record.installed]).toEqual([true, null]);
  });
});

describe("row 17: a configuration that was never read", () => {
  it("row 17: after 7 days: expired, configuration and token gone, nothing installs by itself", () => {
    const m = unread();
    m.minutes(7 * 1440 + 1);
    const lines = m.pass();
    expect(acts(lines)).toEqual(["drop-config", "delete-token abcdef", "netbox: fleetRun=…"]);
    expect([m.record.run?.result, m.record.config?.state]).toEqual(["expired", "removed"]);
    expect(conditions(m)).toEqual(["NoRequest/no-request", "RunFailed/expired"]);
    attests(m);
    expect(runs(m.pass("confirm"))).toEqual([]);
  });

  it("row 17: one that is being read at that moment is not taken away", () => {
    const m = unread();
    m.minutes(7 * 1440);
    m.record = claimed("h", "n", "p", m.nowMs)(m.record) ?? m.record;
    m.minutes(1);
    m.pass();
    expect(m.record.config?.state).toBe("serving");
  });
});
