import { describe, expect, it } from "vitest";
import { spireNodes } from "../../shared/fleet/manifests/spire-nodes.ts";
import { configAccess } from "../../shared/fleet/plan/config-access.ts";
import { renewalBar } from "../../shared/fleet/plan/renewal.ts";
import { attests, declared, installed, minted, off, request, workflowOf } from "../scenarios/acts.ts";
import { CLASSES } from "../scenarios/fixtures.ts";
import type { Model } from "../scenarios/model.ts";
import { acts, conditions, runs, said, times } from "./seen.ts";

const listed = (m: Model) => spireNodes([m], m.settings, m.nowMs).map((n) => n.name);
const renews = (m: Model) => renewalBar(m.device, m.record)?.code ?? "yes";

describe("row 34: a status older than our last write, and no owner's word", () => {
  it("row 34: planned over active: active again", () => {
    const m = installed();
    m.write({ status: "planned" });
    expect(acts(m.pass())).toEqual(["netbox: status=active"]);
    expect(conditions(m)).toEqual([]);
  });

  it("row 34: active over planned while a provision goes on: planned again, and its configuration stays", () => {
    const m = installed();
    m.owner({ desiredAction: "provision" }, request(2));
    m.pass();
    attests(m);
    m.pass("confirm");
    minted(m);
    m.write({ status: "active" });
    const lines = m.pass();
    expect(acts(lines)).toContain("netbox: status=planned");
    expect(said(lines)).toContain("journal warning: an older row was saved over planned: planned again");
    expect([m.device.status, m.record.config?.state]).toEqual(["planned", "unread"]);
  });

  it("row 34: active set by an owner meanwhile is an owner's word", () => {
    const m = installed();
    m.owner({ desiredAction: "provision" }, request(2));
    m.pass();
    m.owner({ status: "active" }, request(3));
    m.pass();
    expect(m.device.status).toBe("active");
  });

  it.each(["decommissioning", "planned"])("row 34: %s over offline after a retirement: offline again", (status) => {
    const m = off();
    m.write({ status });
    const lines = m.pass();
    expect(acts(lines)).toContain("netbox: status=offline");
    expect(runs(lines)).toEqual([]);
    expect(acts(m.pass())).toEqual([]);
  });
});

describe("rows 35 to 38: a status that an owner set and the record does not back", () => {
  it("row 35: active, nothing served: left, a condition; no renewal, not listed", () => {
    const m = declared();
    m.owner({ status: "active" }, request(2));
    expect(acts(m.pass()).filter((l) => l.startsWith("netbox"))).toEqual([]);
    expect([conditions(m), listed(m), renews(m)]).toEqual([["StatusNotEarned/not-served"], [], "not-expected"]);
  });

  it("row 36: active to planned: a fresh install; renewal and SPIRE end; nothing else until it netboots", () => {
    const m = installed();
    expect(listed(m)).toEqual(["w1"]);
    m.owner({ status: "planned" }, request(2));
    expect(acts(m.pass())).toEqual([]);
    expect([conditions(m), listed(m), renews(m)]).toEqual([["WaitsForMachine/no-machine"], [], "not-expected"]);
    expect(m.cluster?.node?.unschedulable).toBe(false);
    attests(m);
    expect(runs(m.pass("confirm"))).toEqual([
      `create Workflow ${workflowOf("provision", 2)}`,
      `enable Workflow ${workflowOf("provision", 2)}`,
    ]);
  });

  it("row 37: offline, not retired: left, a condition; no renewal, not listed", () => {
    const m = installed();
    m.owner({ status: "offline" }, request(2));
    expect(acts(m.pass())).toEqual([]);
    expect([conditions(m), listed(m), renews(m)]).toEqual([
      ["OfflineWithoutRetirement/not-retired"],
      [],
      "not-expected",
    ]);
    expect(m.cluster?.node).not.toBeNull();
  });

  it("row 38: offline to planned after a retirement: a fresh install, a new life, retired again in its turn", () => {
    const m = off();
    m.owner({ status: "planned" }, request(11));
    m.pass();
    expect(conditions(m)).toEqual(["WaitsForMachine/no-machine"]);
    attests(m);
    expect(runs(m.pass("confirm"))).toHaveLength(2);
    m.agent(2, "FAILED", "FAILED");
    m.pass();
    m.owner({ status: "decommissioning" }, request(12));
    expect(runs(m.pass())).toHaveLength(2);
    expect(m.record.retire?.request.id).toBe(request(12));
  });

  it("any other status is left alone, and said", () => {
    const m = installed();
    m.owner({ status: "staged", desiredAction: "wipe" }, request(2));
    expect(acts(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["StatusUnknown/status"]);
  });
});

describe("row 39: NetBox went back in time", () => {
  /** A wipe that an owner asked for and took back; then NetBox is restored to the moment in between. */
  function restored(): Model {
    const m = installed();
    m.owner({ desiredAction: "wipe" }, request(2));
    const row = m.device;
    const log = m.changes;
    m.owner({ desiredAction: null }, request(3));
    m.pass();
    m.device = { ...row, shown: { ...row.shown, attestedAt: null } };
    m.changes = log;
    return m;
  }

  it("row 39: a request that was taken back since does not run; own fields are written again", () => {
    const m = restored();
    const lines = m.pass();
    expect(runs(lines)).toEqual([]);
    expect(acts(lines).join()).toContain("attestedAt=");
    expect(conditions(m)).toEqual(["InventoryWentBack/row-older", "RequestHeld/request-held"]);
    m.minutes(600);
    expect(runs(m.pass()), "later passes neither").toEqual([]);
    expect(times(m, "journal warning: NetBox showed an older row")).toBe(1);
  });

  it("row 39: a fresh request runs", () => {
    const m = restored();
    m.pass();
    m.owner({ desiredAction: null }, request(4));
    m.owner({ desiredAction: "wipe" }, request(5));
    expect(runs(m.pass())).toEqual([
      `create Workflow ${workflowOf("wipe", 5)} bootMode=netboot`,
      `enable Workflow ${workflowOf("wipe", 5)}`,
    ]);
    expect(conditions(m)).toEqual([]);
  });

  it("row 39: an attest erases nothing and goes on", () => {
    const m = installed();
    m.owner({ desiredAction: "attest" }, request(2));
    const row = m.device;
    m.record = { ...m.record, rowSeen: "2026-11-30T00:00:00.000000Z" };
    m.device = row;
    expect(runs(m.pass())).toHaveLength(2);
  });

  it("row 39: a list that is only older than the record beside it says nothing: the row is read again first", () => {
    const m = installed();
    const now = m.device;
    m.device = { ...now, lastUpdated: "2026-11-29T11:00:00.000000Z", desiredAction: "wipe" };
    m.until("put-record");
    m.device = now;
    expect(acts(m.pass())).toEqual([]);
    expect([m.record.inventoryBack, conditions(m)]).toEqual([null, []]);
  });

  it("row 39: decommissioning brought back erases nothing", () => {
    const m = installed();
    m.owner({ status: "decommissioning" }, request(2));
    const row = m.device;
    m.owner({ status: "active" }, request(3));
    m.pass();
    m.device = row;
    expect(runs(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["InventoryWentBack/row-older", "RequestHeld/request-held"]);
  });
});

describe("row 40: what changes under a run, or after an install", () => {
  function installing(): Model {
    const m = declared();
    attests(m);
    m.pass("confirm");
    minted(m);
    m.agent(1, "RUNNING");
    m.pass();
    return m;
  }

  it.each([
    ["class-changed", { fleetClass: "unpinned" }],
    ["name-changed", { name: "w9" }],
    ["disk-changed", { installDiskSerial: "OTHER" }],
  ] as const)("row 40: %s: the run goes on with what it began with, and a condition says so", (reason, change) => {
    const m = installing();
    const { run } = m.record;
    m.write(change);
    expect(acts(m.pass())).toEqual(reason === "name-changed" ? ["apply Hardware allowPXE=true"] : []);
    expect(conditions(m)).toEqual([`ChangedUnderRun/${reason}`]);
    expect(m.record.run).toEqual(run);
  });

  it("row 40: another MAC: the boot plane still serves the one that the run began with", () => {
    const m = installing();
    const mac = "52:54:00:00:00:99";
    m.write({
      interfaces: [{ id: 1, name: "eno1", managementOnly: false, primaryMac: mac, macs: [mac], peer: null }],
    });
    expect(acts(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["ChangedUnderRun/mac-changed"]);
  });

  it.each([
    ["serial", { serial: "SN0002" }],
    ["EKs", { approvedEks: [{ digest: `sha256:${"c".repeat(64)}`, source: "SCAN:2" }] }],
  ] as const)("row 40: another %s: nothing is minted or served", (_what, change) => {
    const m = installing();
    m.write(change);
    m.pass();
    expect(conditions(m)).toContain("IdentityChanged/identity-changed");
    const { config } = m.record;
    if (config === null) throw new Error("no config");
    expect(configAccess(m.record, m.device, config, "10.0.0.7")).toEqual({
      answer: "refuse",
      code: "identity-changed",
    });
  });

  it("row 40: a class that changed after the install counts from the next provision", () => {
    const m = installed();
    m.write({ fleetClass: "unpinned" });
    m.pass();
    expect(conditions(m)).toEqual(["InstalledClass/class-changed"]);
    expect(listed(m)).toEqual(["w1"]);
    m.write({ fleetClass: "talos-worker" });
    const cls = CLASSES["talos-worker"];
    if (cls === undefined) throw new Error("no class");
    m.classes = { "talos-worker": { ...cls, secureBoot: "off" } };
    m.pass();
    expect(conditions(m)).toEqual(["InstalledClass/class-edited"]);
  });

  it("row 40: a name that changed after the install counts from the next provision", () => {
    const m = installed();
    m.write({ name: "w9" });
    m.pass();
    expect([conditions(m), listed(m)]).toEqual([["InstalledName/name-changed"], ["w1"]]);
  });
});
