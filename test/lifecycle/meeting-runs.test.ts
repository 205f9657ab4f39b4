import { describe, expect, it } from "vitest";
import type { Device } from "../../shared/fleet/device.ts";
import { admissionAnswer } from "../../shared/fleet/plan/admit.ts";
import { attests, declared, installed, minted, request, workflowOf } from "../scenarios/acts.ts";
import { Model } from "../scenarios/model.ts";
import { acts, conditions, runs, said, times } from "./seen.ts";

const STARTS = (kind: string, n: number, bootMode = " bootMode=netboot") => [
  `create Workflow ${workflowOf(kind, n)}${bootMode}`,
  `enable Workflow ${workflowOf(kind, n)}`,
];

describe("rows 7 and 8: a request that meets a run", () => {
  it("row 7: of the same kind: used up by that run, cleared, said", () => {
    const m = installed();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.owner({ desiredAction: null }, request(3));
    m.owner({ desiredAction: "wipe" }, request(4));
    const lines = m.pass();
    expect(acts(lines)).toEqual(["netbox: desiredAction=null"]);
    expect(said(lines)).toEqual(["journal info: wipe is running already: the new request is carried out by it"]);
    expect(m.record.lastRequests.install?.id).toBe(request(4));
    m.agent(2, "SUCCESS");
    expect(runs(m.pass())).toEqual([]);
  });

  it("row 7: a provision asked for while the first install goes on is that install", () => {
    const m = declared();
    attests(m);
    m.pass("confirm");
    m.owner({ desiredAction: "provision" }, request(2));
    expect(acts(m.pass())).toEqual(["netbox: desiredAction=null"]);
    expect(m.record.run?.request.id).toBe(request(1));
  });

  it("row 8: of another kind: it waits, said once, and runs when the first has ended", () => {
    const m = installed();
    m.owner({ desiredAction: "attest" }, request(2));
    m.pass();
    m.owner({ desiredAction: "wipe" }, request(3));
    expect(acts(m.pass())).toEqual([]);
    m.pass();
    expect(conditions(m)).toEqual(["RequestWaits/other-run"]);
    expect(times(m, "wipe waits until attest has ended")).toBe(1);
    attests(m);
    m.agent(1, "SUCCESS");
    expect(runs(m.pass())).toEqual(STARTS("wipe", 3));
  });
});

describe("rows 9 and 9a: a start that was interrupted", () => {
  it.each(["put-record", "take-slot", "create-workflow", "enable-workflow"] as const)(
    "row 9: killed right after its first %s, it goes on and makes one Workflow",
    (step) => {
      const m = new Model();
      m.owner({ desiredAction: "wipe" }, request(1));
      m.until(step);
      m.pass();
      expect(m.bootPlane?.workflows.map((w) => [w.name, w.disabled])).toEqual([[workflowOf("wipe", 1), false]]);
      expect([m.record.run?.phase, m.record.lastRequests.install?.id, m.device.desiredAction]).toEqual([
        "waiting",
        request(1),
        null,
      ]);
    },
  );

  it("row 9a: a gate that fails before it is enabled withdraws it; the request stays, and its next attempt has another name", () => {
    const m = new Model();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.until("create-workflow");
    m.write({ installDiskSerial: null });
    const lines = m.pass();
    expect(acts(lines)).toEqual([
      `delete Workflow ${workflowOf("wipe", 1)}`,
      "apply Hardware allowPXE=false",
      "free-slot",
      "netbox: fleetRun=…",
    ]);
    expect(m.record.run?.result).toBe("withdrawn");
    expect(conditions(m)).toEqual(["RequestWaits/disk-serial-missing"]);
    expect(m.device.desiredAction).toBe("wipe");
    m.write({ installDiskSerial: "S1" });
    expect(runs(m.pass())).toEqual([
      `create Workflow ${workflowOf("wipe", 1, 2)} bootMode=netboot`,
      `enable Workflow ${workflowOf("wipe", 1, 2)}`,
    ]);
  });
});

describe("row 10: what takes a request back before anything began", () => {
  const withdraws = (change: Partial<Pick<Device, "protected" | "status">>) => {
    const m = declared();
    attests(m);
    m.pass("confirm");
    minted(m);
    m.owner(change, request(2));
    const lines = m.pass();
    return { m, lines };
  };

  it.each([
    ["protected set", { protected: true }, "the device became protected"],
    ["offline", { status: "offline" }, "the status is offline now"],
    ["decommissioning", { status: "decommissioning" }, "the status is decommissioning now"],
    ["a status that fleetd does not know", { status: "staged" }, "the status is staged now"],
  ] as const)(
    "row 10: %s: Workflow, configuration and token go, the slot is free, the request used up",
    (_n, change, why) => {
      const { m, lines } = withdraws(change);
      expect(acts(lines)).toContain(`delete Workflow ${workflowOf("provision", 1)}`);
      expect(acts(lines)).toContain("drop-config");
      expect(acts(lines)).toContain("delete-token abcdef");
      expect(said(lines)).toContain(`journal warning: provision withdrawn before any action began: ${why}`);
      expect(m.record.config?.state).toBe("removed");
      expect(m.bootPlane?.workflows.filter((w) => w.kind === "provision")).toEqual([]);
      // A retirement that follows goes on in its device's slot.
      expect(m.fleet.slots).toHaveLength(m.device.status === "decommissioning" ? 1 : 0);
      m.owner({ status: "planned", protected: false }, request(3));
      m.owner({ desiredAction: null }, request(4));
      expect(runs(m.pass()), "its request is used up").toEqual([]);
    },
  );

  it("row 10: one that has begun meanwhile is not withdrawn", () => {
    const m = declared();
    attests(m);
    m.pass("confirm");
    m.agent(1, "RUNNING");
    m.owner({ protected: true }, request(2));
    m.pass();
    expect(m.record.run?.phase).toBe("running");
  });

  it("row 10: before it was enabled the request stays fresh", () => {
    const m = new Model();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.until("create-workflow");
    m.owner({ protected: true }, request(2));
    m.pass();
    expect([m.record.run?.result, m.record.lastRequests.install, m.device.desiredAction]).toEqual([
      "withdrawn",
      null,
      "wipe",
    ]);
  });
});

describe("rows 11 to 13", () => {
  it("row 11: offline: a request waits until the owner sets planned", () => {
    const m = new Model({ status: "offline" });
    m.owner({ desiredAction: "wipe" }, request(1));
    expect(runs(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["StatusForbids/offline"]);
    m.owner({ status: "planned" }, request(2));
    expect(runs(m.pass())).toEqual(STARTS("wipe", 1));
  });

  it("row 13: a wipe uses up the first install: a wiped machine that netboots is not installed", () => {
    const m = declared();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.agent(2, "SUCCESS");
    m.pass();
    attests(m);
    expect(runs(m.pass("confirm"))).toEqual([]);
    expect(admissionAnswer(m.observed("confirm"))).toMatchObject({ outcome: "wait", code: "no-request" });
  });

  it("row 13: an attest uses up no install", () => {
    const m = declared();
    m.owner({ desiredAction: "attest" }, request(2));
    m.pass();
    attests(m);
    m.agent(1, "SUCCESS");
    m.pass();
    expect(conditions(m)).toEqual(["WaitsForMachine/no-machine"]);
    attests(m);
    expect(runs(m.pass("confirm"))).toEqual(STARTS("provision", 1, ""));
  });
});
