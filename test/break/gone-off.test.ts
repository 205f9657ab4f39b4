import { expect, it } from "vitest";
import { planGone } from "../../shared/fleet/plan/gone.ts";
import { planDevice } from "../../shared/fleet/plan/plan.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import { SETTINGS } from "../scenarios/fixtures.ts";
import { Model } from "../scenarios/model.ts";
import { EKS, NOW, plane, retire, run, workflow } from "../shared/fleet/parts.ts";

const MACHINE = {
  ...{ name: "f7", uid: "m", resourceVersion: "1", createdAtMs: 1, deviceId: 7 },
  ...{ powerState: "on" as const, contactable: true, spec: {} },
};
const job = (n: number, createdAtMs: number) => ({
  ...{ name: `f7-wipe-r1-1-off-${n}`, uid: `j${n}`, resourceVersion: "1", createdAtMs, deviceId: 7, machine: "f7" },
  ...{ state: "completed" as const, tasksAreOwn: true, problem: "" },
});
const RUN = run({ kind: "wipe", name: "f7-wipe-r1-1", phase: "running", begunAtMs: NOW, eks: EKS });
const OWN = workflow({ name: "f7-wipe-r1-1", kind: "wipe" });
const objects = (...jobs: ReturnType<typeof job>[]) => ({ ...plane(OWN), machines: [MACHINE], jobs });

/** A device that was gone with a run going on, whose BMC said off; it was back since. */
function backAgain(change: Partial<DeviceRecord> = {}): { model: Model; record: DeviceRecord } {
  const model = new Model({ status: "planned", ...(change.retire ? { status: "decommissioning" } : {}) });
  model.record = {
    ...model.record,
    ...{ run: RUN, absentSinceMs: NOW, goneOff: { jobs: 1, job: "f7-wipe-r1-1-off-1", nextTryAtMs: null } },
    ...change,
  };
  model.nowMs = NOW + 60_000;
  Object.assign(model, { bootPlane: objects(job(1, NOW)) });
  const [step] = planDevice(model.observed()).steps;
  if (step?.do !== "put-record") throw new Error("no record");
  return { model, record: step.record };
}

it("what a BMC said of a device that was gone before is no evidence once it was back", () => {
  const { record } = backAgain();
  expect(record.absentSinceMs).toBeNull();
  const gone = { ...record, absentSinceMs: NOW + 120_000 };
  const steps = planGone(gone, objects(job(1, NOW)), NOW + 240_000, SETTINGS);
  expect(steps.map((s) => s.do)).toEqual(["put-record", "create-job"]);
  expect(steps[1]).toMatchObject({ manifest: { metadata: { name: "f7-wipe-r1-1-off-2" } } });
});

it("a retirement that stops the same run makes Jobs of other names, whichever of both came first", () => {
  const { record } = backAgain({ retire: retire() });
  expect(record.retire?.offJob).toBe("f7-wipe-r1-1-off-2");
  const later = { ...record, absentSinceMs: NOW + 120_000, retire: retire({ offJobs: 4 }) };
  const steps = planGone(later, objects(job(1, NOW)), NOW + 240_000, SETTINGS);
  expect(steps[1]).toMatchObject({ manifest: { metadata: { name: "f7-wipe-r1-1-off-5" } } });
});

it("a retirement that was taken back leaves no evidence to the next one that stops the same run", () => {
  const { model, record } = backAgain({ goneOff: null, absentSinceMs: null, retire: retire() });
  expect(record.retire?.offJob).toBe("f7-wipe-r1-1-off-1");
  model.record = record;
  model.owner({ status: "planned" }, "0000aaaa-0000-4000-8000-000000000000");
  model.pass();
  expect(model.record.retire).toBeNull();
  model.owner({ status: "decommissioning" }, "0000bbbb-0000-4000-8000-000000000000");
  model.pass();
  expect(model.record).toMatchObject({ run: { phase: "running" }, retire: { offJob: "f7-wipe-r1-1-off-2" } });
});
