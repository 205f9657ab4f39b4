import { describe, expect, it } from "vitest";
import {
  hardwareView,
  jobView,
  machineView,
  workflowView,
} from "../../../../shared/adapters/kubernetes/tinkerbell-views.ts";
import { captured, capturedItems } from "./captured.ts";

describe("workflowView of captured Workflows", () => {
  it.each([
    ["workflow-pending", "PENDING", ["PENDING", "PENDING", "PENDING"], "", 3_600_000],
    ["workflow-action-served", "PENDING", ["PENDING", "PENDING", "PENDING"], "", 3_600_000],
    ["workflow-preparing", "PREPARING", ["PENDING", "PENDING", "PENDING"], "", 3_600_000],
    ["workflow-after-netboot", "PENDING", ["PENDING", "PENDING", "PENDING"], "", 3_600_000],
    ["workflow-running", "RUNNING", ["RUNNING", "PENDING", "PENDING"], "", 3_600_000],
    ["workflow-running-past-stop", "RUNNING", ["RUNNING", "PENDING"], "", 5_000],
    ["workflow-success", "SUCCESS", ["SUCCESS", "SUCCESS", "SUCCESS"], "", 3_600_000],
    ["workflow-toggle-success", "SUCCESS", ["SUCCESS", "SUCCESS"], "", 5_000],
    ["workflow-success-after-failed", "SUCCESS", ["FAILED", "PENDING", "SUCCESS"], "", 3_600_000],
    ["workflow-success-without-running", "SUCCESS", ["PENDING", "PENDING", "SUCCESS"], "", 3_600_000],
    ["workflow-failed", "FAILED", ["FAILED", "PENDING", "PENDING"], "", 3_600_000],
    ["workflow-timeout", "TIMEOUT", ["RUNNING", "PENDING"], "", 5_000],
    ["workflow-no-template", "", [], "template not found", 0],
    ["workflow-no-hardware", "", [], 'hardware not found: Hardware.tinkerbell.org "absent" not found', 0],
  ])("%s", (name, state, actions, problem, timeoutMs) => {
    const view = workflowView(captured(name), 101, []);
    expect(view).toMatchObject({ deviceId: 101, state, problem, timeoutMs, disabled: false });
    expect(view.actions.map((action) => action.state)).toEqual(actions);
  });

  it("reads every field of a finished one", () => {
    const view = workflowView(captured("workflow-success"), 101, []);
    expect(view).toMatchObject({
      name: "run-1",
      uid: "30b032f7-bd9d-4aa5-8d51-f42bd8c0457c",
      createdAtMs: Date.UTC(2026, 10, 29, 19, 2, 43),
      templateRef: "provision",
      agentId: "52:54:00:00:00:01",
      bootJob: null,
    });
    expect(view.actions[1]).toEqual({
      name: "wipe",
      image: "registry.example/tink-reprovision-tools:1",
      command: ["wipe", "/dev/nvme0n1"],
      state: "SUCCESS",
      message: "done",
      startedAtMs: Date.UTC(2026, 10, 29, 19, 2, 46),
      stoppedAtMs: Date.UTC(2026, 10, 29, 19, 2, 46),
    });
  });

  it("shows an action that a hardwareMap value spliced in", () => {
    const { actions } = workflowView(captured("workflow-spliced"), 101, []);
    expect(actions.map(({ name, image }) => [name, image])).toEqual([
      ["one", "registry.example/x:1"],
      ["evil", "registry.example/evil:1"],
      ["rest", "registry.example/x:1"],
    ]);
  });

  it("tells the renderer's words of a template that never renders", () => {
    expect(workflowView(captured("workflow-render-failed"), 101, []).problem).toContain('no entry for key "nope"');
  });

  it("tells the BMC's words of a boot Job that failed, from the Job's own Tasks only", () => {
    const workflow = captured("workflow-boot-failed");
    const view = workflowView(workflow, 101, capturedItems("tasks-failed"));
    expect(view.bootJob).toBe("netboot-boot-2");
    expect(view.problem).toMatch(/^job failed: failed to perform OneTimeBootDeviceAction: .*no such device/s);
    expect(workflowView(workflow, 101, capturedItems("tasks-netboot")).problem).toBe("job failed");
  });

  it("takes a state it never heard of for unknown, with its name", () => {
    const view = workflowView({ ...captured("workflow-success"), status: { state: "STATE_SUCCESS" } }, 101, []);
    expect([view.state, view.problem]).toEqual(["", "unknown state STATE_SUCCESS"]);
  });
});

describe("jobView of captured Jobs", () => {
  it.each([
    ["job-off-completed", [captured("task-off-completed")], "completed", true, ""],
    ["job-netboot-completed", capturedItems("tasks-netboot"), "completed", true, ""],
    ["job-netboot-completed", capturedItems("tasks-netboot").slice(0, 2), "completed", false, ""],
    ["job-off-completed", [], "completed", false, ""],
    ["job-status-check-fails", [], "open", false, ""],
    ["job-no-machine", [], "open", false, ""],
  ])("%s", (name, tasks, state, tasksAreOwn, problem) => {
    expect(jobView(captured(name), 101, tasks)).toMatchObject({
      state,
      tasksAreOwn,
      problem,
      machine: expect.any(String),
    });
  });

  it("tells the BMC's words of a failed one", () => {
    const view = jobView(captured("job-unreachable"), 101, [captured("task-unreachable")]);
    expect(view).toMatchObject({ state: "failed", tasksAreOwn: true, machine: "node-1" });
    expect(view.problem).toContain("connection refused");
    expect(jobView(captured("job-failed"), 101, []).problem).toBe("task tinkerbell/netboot-boot-2-task-1 failed");
  });

  it("disowns Tasks of an older Job of the same name", () => {
    const { metadata, ...task } = captured("task-off-completed");
    const labels = { "owner-name": "same" };
    const old = { ...task, metadata: { ...Object(metadata), name: "same-task-0", labels } };
    expect(jobView(captured("job-completed-by-old-task"), 101, [old])).toMatchObject({
      state: "completed",
      tasksAreOwn: false,
    });
  });

  it("disowns a Task that started before its Job was made", () => {
    const task = captured("task-off-completed");
    const early = { ...task, status: { startTime: "2026-11-29T18:00:00Z" } };
    expect(jobView(captured("job-off-completed"), 101, [early]).tasksAreOwn).toBe(false);
  });
});

describe("machineView and hardwareView of captured objects", () => {
  it.each([
    ["machine-on", "on", true],
    ["machine-off", "off", true],
    ["machine-unreachable", "unknown", false],
    ["machine-power-unknown", "unknown", false],
  ])("%s", (name, powerState, contactable) => {
    expect(machineView(captured(name), 101)).toMatchObject({ powerState, contactable, name: "node-1" });
  });

  it("reads allowPXE", () => {
    const view = hardwareView(captured("hardware"), 101);
    expect([view.name, view.allowPxe]).toEqual(["node-1", false]);
    const open = { spec: { interfaces: [{ netboot: { allowPXE: false } }, { netboot: { allowPXE: true } }] } };
    expect(hardwareView({ ...captured("hardware"), ...open }, 101).allowPxe).toBe(true);
  });
});
