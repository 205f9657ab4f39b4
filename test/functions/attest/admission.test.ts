import { describe, expect, it } from "vitest";
import { lldpSeen } from "../../../functions/attest/lldp.ts";
import type { ActionView } from "../../../shared/fleet/boot-plane.ts";
import type { Device, DeviceInterface } from "../../../shared/fleet/device.ts";
import { admissionAnswer, withHookosAgain } from "../../../shared/fleet/plan/admit.ts";
import { interfaceFor, wiringFault } from "../../../shared/fleet/plan/wiring.ts";
import type { ConfigRecord, Run } from "../../../shared/fleet/record.ts";
import { writeLldpFrame } from "../../../shared/formats/lldp/frame.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { Model } from "../../scenarios/model.ts";
import { aRecord, aRun } from "../config/world.ts";

/** What a machine is told whose device, run and configuration are these. */
function told(given: {
  device?: Partial<Device>;
  run?: Partial<Run> | null;
  config?: Partial<ConfigRecord> | null;
  actions?: Record<string, ActionView["state"]>;
}) {
  const m = new Model(given.device ?? {});
  const made = aRecord(m.nowMs);
  const run = given.run === null ? null : aRun({ phase: "waiting", diskBegun: false, ...given.run });
  const config =
    given.config === undefined || given.config === null || made.config === null
      ? null
      : { ...made.config, ...given.config };
  m.record = { ...made, run, config };
  if (run !== null)
    m.bootPlane?.workflows.push({
      ...m.key(run.name),
      kind: run.kind,
      requestId: run.request.id,
      disabled: false,
      state: "RUNNING",
      actions: Object.entries(given.actions ?? {}).map(([name, state]) => ({
        name,
        image: "tools",
        command: [],
        state,
        message: "",
        startedAtMs: null,
        stoppedAtMs: null,
      })),
      templateRef: "provision",
      timeoutMs: 1,
      agentId: "",
      problem: "",
      bootJob: null,
    });
  const answer = admissionAnswer(m.observed("confirm"));
  return answer.outcome === "wait" ? answer.code : answer.outcome;
}

describe("a machine that confirmed is told", () => {
  it.each<[string, string, Parameters<typeof told>[0]]>([
    ["install", "while its provision waits", {}],
    ["install", "again while its code is unread", { config: { state: "unread" } }],
    [
      "install",
      "again while the disk is wiped: the code is not stored yet",
      { run: { phase: "running", diskBegun: true }, actions: { wipe: "RUNNING", "install-talos": "PENDING" } },
    ],
    [
      "attested",
      "once the code is stored on its disk",
      { run: { phase: "running", diskBegun: true }, actions: { wipe: "SUCCESS", "install-talos": "SUCCESS" } },
    ],
    ["attested", "once its configuration was served", { config: { state: "served" } }],
    ["attested", "when its serving was lost", { config: { state: "lost" } }],
    ["config-being-served", "while it is served", { config: { state: "serving" } }],
    ["install", "though another run's configuration was served", { config: { state: "served", run: "earlier" } }],
    ["run-preparing", "while the run starts", { run: { phase: "starting" } }],
    ["identity-changed", "when the serial moved under the run", { run: { serial: "OTHER" } }],
    ["identity-changed", "when the EKs moved under the run", { run: { eks: [] } }],
    ["attested", "in an attest run", { run: { kind: "attest" } }],
    ["attested", "in a wipe", { run: { kind: "wipe" } }],
    ["attested", "after SUCCESS with its configuration unread", { run: { phase: "ended", result: "unread" } }],
    ["attested", "when it is active without work", { run: null, device: { status: "active" } }],
    ["protected", "when it became protected while the run waited for the code", { device: { protected: true } }],
    ["name-invalid", "when it was given a name that no node can have", { device: { name: "Not A Name" } }],
    [
      "install",
      "when it became protected with its disk half wiped",
      { run: { phase: "running", diskBegun: true }, device: { protected: true } },
    ],
    ["not-planned", "when it is being retired", { device: { status: "decommissioning" } }],
    ["no-request", "when it is planned without a request", { run: null }],
    ["no-request", "after a failed run", { run: { phase: "ended", result: "failed" } }],
    ["run-preparing", "when its retirement is not begun", { run: null, device: { status: "decommissioning" } }],
    ["not-expected", "when it is offline", { run: null, device: { status: "offline" } }],
  ])("%s %s", (answer, _when, given) => {
    expect(told(given)).toBe(answer);
  });

  it("HookOS after an install is noted once, with the configuration unread alone", () => {
    const unread = { ...aRecord(1), run: aRun({ phase: "ended", result: "unread" }) };
    const noted = withHookosAgain(unread, 5);
    expect(noted.config?.hookosAgainAtMs).toBe(5);
    expect(withHookosAgain(noted, 9)).toBe(noted);
    expect(withHookosAgain(aRecord(1), 5).config?.hookosAgainAtMs).toBeNull();
  });
});

describe("the switch port", () => {
  const peer = {
    deviceName: "sw1",
    interfaceName: "swp7",
    interfaceLabel: "7",
    interfaceMac: "00:11:22:33:44:07",
    deviceMacs: ["00:11:22:33:44:00"],
  };
  const eno1: DeviceInterface = { id: 1, name: "eno1", managementOnly: false, primaryMac: null, macs: [], peer };
  const device = { ...aDevice(), interfaces: [eno1] };
  const frame = {
    sourceMac: "00:11:22:33:44:07",
    chassisId: { subtype: 4, text: "00:11:22:33:44:00" },
    portId: { subtype: 5, text: "swp7" },
    ttlSeconds: 120,
    portDescription: null,
    systemName: "sw1",
  };
  const fault = (change: object, of = device) =>
    wiringFault(of, lldpSeen(writeLldpFrame({ ...frame, ...change })), "require");

  it.each<[string, object]>([
    ["by its name", {}],
    ["by its name in capitals", { portId: { subtype: 5, text: "SWP7" } }],
    ["by its label", { portId: { subtype: 7, text: "7" } }],
    ["by its MAC", { portId: { subtype: 3, text: "00:11:22:33:44:07" } }],
    ["of a device known by its chassis MAC", { systemName: null }],
    ["of a device known by its system name", { chassisId: { subtype: 4, text: "00:11:22:33:44:99" } }],
  ])("fits %s", (_how, change) => {
    expect(fault(change)).toBeNull();
  });

  it.each<[string, object, string]>([
    ["another port", { portId: { subtype: 5, text: "swp8" } }, "sw1 port swp8"],
    ["another port's MAC", { portId: { subtype: 3, text: "00:11:22:33:44:08" } }, "port 00:11:22:33:44:08"],
    [
      "another device",
      { systemName: "sw2", chassisId: { subtype: 4, text: "00:11:22:33:44:99" } },
      "NetBox declares sw1 port swp7",
    ],
  ])("does not fit %s", (_how, change, words) => {
    expect(fault(change)).toContain(words);
  });

  it("no frame, an unreadable one, or no declared cable is a mismatch, unless it is only reported", () => {
    expect(wiringFault(device, lldpSeen(null), "require")).toContain("no LLDP frame");
    expect(wiringFault(device, lldpSeen(Uint8Array.of(1, 2, 3)), "require")).toContain("no LLDP frame");
    expect(fault({}, { ...device, interfaces: [{ ...eno1, peer: null }] })).toContain("no cable");
    expect(wiringFault(device, null, "report")).toBeNull();
  });

  it("the interface is the one with the cable, else the only one that is not management, else none", () => {
    const eno2 = { ...eno1, id: 2, name: "eno2", peer: null };
    const amt = { ...eno2, id: 3, name: "amt", managementOnly: true };
    const of = (...interfaces: DeviceInterface[]) => interfaceFor({ ...device, interfaces })?.name ?? null;
    expect(of(eno2, eno1, amt)).toBe("eno1");
    expect(of(eno2, amt)).toBe("eno2");
    expect(of(eno2, { ...eno2, id: 4, name: "eno3" })).toBeNull();
    expect(of(eno1, { ...eno1, id: 4, name: "eno3" })).toBeNull();
    expect(of({ ...amt, peer })).toBeNull();
  });
});
