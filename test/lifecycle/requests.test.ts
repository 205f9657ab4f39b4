import { describe, expect, it } from "vitest";
import type { Device } from "../../shared/fleet/device.ts";
import { admissionAnswer } from "../../shared/fleet/plan/admit.ts";
import { attests, declared, installed, request, workflowOf } from "../scenarios/acts.ts";
import { Model } from "../scenarios/model.ts";
import { acts, conditions, runs, said, times } from "./seen.ts";

const STARTS = (kind: string, n: number, bootMode = " bootMode=netboot") => [
  `create Workflow ${workflowOf(kind, n)}${bootMode}`,
  `enable Workflow ${workflowOf(kind, n)}`,
];

describe("row 1: a gate that fails is the condition, said once; nothing is done and the request stays", () => {
  const gates: readonly (readonly [string, Partial<Device>])[] = [
    ["name-invalid", { name: "Not_A_Name" }],
    ["name-invalid", { serial: "Default string" }],
    ["class-unknown", { fleetClass: "nosuch" }],
    ["protected", { protected: true }],
    ["disk-missing", { installDisk: "/dev/sda" }],
    ["disk-serial-missing", { installDiskSerial: null }],
    ["disk-serial-missing", { installDiskSerial: 'S"\n- name: evil' }],
    ["pin-incomplete", { fleetClass: "unpinned" }],
    ["address-missing", { address: null }],
  ];
  it.each(gates)("row 1: %s", (code, change) => {
    const m = new Model(change);
    m.owner({ desiredAction: "provision" }, request(1));
    m.pass();
    const again = m.pass();
    expect(again).toEqual([]);
    expect(conditions(m)).toContain(`RequestWaits/${code}`);
    expect(times(m, "journal warning: provision waits:")).toBe(1);
    expect([m.device.desiredAction, m.record.run, m.bootPlane?.workflows, m.fleet.slots]).toEqual([
      "provision",
      null,
      [],
      [],
    ]);
  });

  it("row 1: what the device shares with another comes before its class", () => {
    const m = new Model({ fleetClass: "nosuch" });
    m.conflict = "shares serial sn0001 with w2 (device 8)";
    m.owner({ desiredAction: "wipe" }, request(1));
    m.pass();
    expect(conditions(m)).toEqual(["RequestWaits/inventory-conflict"]);
  });

  it("row 1: an attest touches no disk: protected, disk and pin hold it up as little as a slot", () => {
    const m = new Model({ protected: true, installDisk: null, installDiskSerial: null, fleetClass: "unpinned" });
    m.settings = { ...m.settings, maxDiskRuns: 0 };
    m.owner({ desiredAction: "attest" }, request(1));
    expect(runs(m.pass())).toEqual(STARTS("attest", 1));
  });

  it("row 1: no free slot; the request goes on once one is free", () => {
    const m = installed();
    m.fleet = { ...m.fleet, slots: [1, 2, 3, 4, 5].map((deviceId) => ({ deviceId, run: "r", sinceMs: m.nowMs })) };
    m.owner({ desiredAction: "provision" }, request(2));
    const lines = m.pass();
    expect(acts(lines)).toEqual([]);
    expect(conditions(m)).toEqual(["RequestWaits/slot"]);
    expect(m.device.status).toBe("active");
    m.fleet = { ...m.fleet, slots: m.fleet.slots.slice(1) };
    expect(runs(m.pass())).toEqual(STARTS("provision", 2));
  });

  it("row 1: the same in status active", () => {
    const m = installed({ protected: false });
    m.write({ protected: true });
    m.owner({ desiredAction: "wipe" }, request(2));
    expect(acts(m.pass())).toEqual([]);
    expect([conditions(m), m.device.status]).toEqual([["RequestWaits/protected"], "active"]);
  });
});

it("row 2: a provision of an active device: slot, planned, its Node's UID in the record, cordoned, not drained", () => {
  const m = installed();
  const uid = m.cluster?.node?.uid;
  m.owner({ desiredAction: "provision" }, request(2));
  const lines = m.pass();
  expect(acts(lines)).toEqual([
    "take-slot",
    "netbox: status=planned",
    `delete Workflow ${workflowOf("provision", 1)}`,
    "apply Hardware allowPXE=true",
    "node: unschedulable=true taint=false reason=reinstall",
    ...STARTS("provision", 2),
    "netbox: fleetRun=…",
    "netbox: desiredAction=null",
  ]);
  expect(said(lines)).toContain("journal info: node w1 is cordoned for provision, not drained");
  expect(m.record.node).toEqual({ name: "w1", uid });
  expect(m.record.installed, "no disk action has begun").not.toBeNull();
  expect(conditions(m)).toEqual([]);
});

describe("row 3: starting, in this order, and only then enabled", () => {
  it("row 3: a wipe of a planned device with a BMC", () => {
    const m = declared();
    m.pass();
    m.owner({ desiredAction: "wipe" }, request(2));
    expect(acts(m.pass())).toEqual([
      "take-slot",
      "apply Hardware allowPXE=true",
      ...STARTS("wipe", 2),
      "netbox: fleetRun=…",
      "netbox: desiredAction=null",
    ]);
    expect(m.record.run).toMatchObject({ phase: "waiting", class: { name: "talos-worker" }, bootMode: true });
    expect(m.record.lastRequests.install?.id).toBe(request(2));
  });

  it("row 3: an attest of an active device leaves its status, its Node and its installation", () => {
    const m = installed();
    m.owner({ desiredAction: "attest" }, request(2));
    expect(acts(m.pass())).toEqual([
      `delete Workflow ${workflowOf("provision", 1)}`,
      "apply Hardware allowPXE=true",
      ...STARTS("attest", 2),
      "netbox: fleetRun=…",
      "netbox: desiredAction=null",
    ]);
    expect([m.device.status, m.cluster?.node?.unschedulable, m.record.lastRequests.install?.id]).toEqual([
      "active",
      false,
      request(1),
    ]);
  });

  it("row 3: the record says starting before the Workflow is made, and enabled before it is enabled", () => {
    const m = new Model();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.until("create-workflow");
    expect(m.record.run).toMatchObject({ phase: "starting", enabledAtMs: null });
    expect(m.bootPlane?.workflows.map((w) => w.disabled)).toEqual([true]);
    m.until("enable-workflow");
    expect(m.record.run).toMatchObject({ phase: "starting", enabledAtMs: m.nowMs });
  });

  it("row 3: without a BMC it waits, and the owner is asked to netboot for as long as it does", () => {
    const m = new Model({ bmcType: null });
    m.owner({ desiredAction: "wipe" }, request(1));
    expect(runs(m.pass())).toEqual(STARTS("wipe", 1, ""));
    m.pass();
    expect(conditions(m)).toEqual(["NetbootByHand/no-bmc"]);
    expect(times(m, "netboot the machine")).toBe(1);
    m.agent(1, "RUNNING");
    m.pass();
    expect(conditions(m)).toEqual([]);
  });

  it("row 3: until a MAC is known the request waits with that reason", () => {
    const m = new Model({
      interfaces: [{ id: 1, name: "eno1", managementOnly: false, primaryMac: null, macs: [], peer: null }],
    });
    m.owner({ desiredAction: "wipe" }, request(1));
    expect(acts(m.pass())).toEqual(["apply Machine", "apply Hardware allowPXE=-"]);
    expect(conditions(m)).toEqual(["MacUnknown/mac-unknown"]);
  });
});

describe("rows 4 to 6: a first install", () => {
  it("row 4: planned set by an owner installs at confirm, without a boot mode", () => {
    const m = declared();
    m.pass();
    attests(m);
    expect(runs(m.pass("confirm"))).toEqual(STARTS("provision", 1, ""));
    expect(admissionAnswer(m.observed("confirm"))).toMatchObject({ outcome: "install" });
  });

  it("row 4: never installed, it waits for no slot, and counts", () => {
    const m = declared();
    m.fleet = { ...m.fleet, slots: [1, 2, 3, 4, 5].map((deviceId) => ({ deviceId, run: "r", sinceMs: m.nowMs })) };
    attests(m);
    expect(runs(m.pass("confirm"))).toHaveLength(2);
    expect(m.fleet.slots).toHaveLength(6);
  });

  it("row 4: installed before, it takes a slot or is told to wait", () => {
    const m = installed();
    m.owner({ status: "planned" }, request(2));
    m.fleet = { ...m.fleet, slots: [1, 2, 3, 4, 5].map((deviceId) => ({ deviceId, run: "r", sinceMs: m.nowMs })) };
    attests(m);
    expect(runs(m.pass("confirm"))).toEqual([]);
    expect(admissionAnswer(m.observed("confirm"))).toMatchObject({ outcome: "wait", code: "slot" });
  });

  it("row 5: nothing but a condition while no machine confirms, or while a gate fails", () => {
    const m = declared();
    expect(acts(m.pass())).toEqual(["apply Machine", "apply Hardware allowPXE=false"]);
    expect(conditions(m)).toEqual(["WaitsForMachine/no-machine"]);
    m.write({ protected: true });
    expect(acts(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["RequestWaits/protected"]);
    attests(m);
    expect(runs(m.pass("confirm"))).toEqual([]);
    expect(admissionAnswer(m.observed("confirm"))).toMatchObject({ outcome: "wait", code: "protected" });
  });

  it("row 6: with the request used up, confirm is told no-request: a failed machine never installs itself again", () => {
    const m = declared();
    attests(m);
    m.pass("confirm");
    m.agent(2, "FAILED", "FAILED");
    m.pass();
    attests(m);
    expect(runs(m.pass("confirm"))).toEqual([]);
    expect(admissionAnswer(m.observed("confirm"))).toMatchObject({ outcome: "wait", code: "no-request" });
    expect(conditions(m)).toEqual(["NoRequest/no-request", "RunFailed/failed"]);
  });
});
