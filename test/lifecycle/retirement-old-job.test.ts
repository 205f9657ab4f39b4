import { expect, it } from "vitest";
import { erased, installed, request } from "../scenarios/acts.ts";
import { acts } from "./seen.ts";

it("row 25: a Job that was to stop the run before is no evidence of off after the erasure", () => {
  const m = installed();
  m.owner({ desiredAction: "wipe" }, request(2));
  m.pass();
  m.agent(1, "RUNNING");
  m.pass();
  m.owner({ status: "decommissioning" }, request(9));
  m.pass();
  // The run ends by itself before its BMC has turned the machine off.
  m.agent(2, "SUCCESS");
  m.pass();
  m.agent(4, "SUCCESS");
  m.job({ state: "completed" });
  m.pass();
  expect(m.record.retire?.erasedAtMs).not.toBeNull();
  expect([m.record.retire?.offAtMs, m.device.status]).toEqual([null, "decommissioning"]);
  expect(m.bootPlane?.jobs.at(-1)?.name).toBe("f7-retire-00000009aaaa-off-2");
  m.job({ state: "completed" });
  expect(acts(m.pass())).not.toEqual([]);
  expect(m.record.retire?.offAtMs).not.toBeNull();
});

it("row 25: while the BMC does not say off, passes have nothing to write", () => {
  const m = erased();
  m.minutes(16);
  m.pass();
  m.minutes(1);
  expect(m.pass()).toEqual([]);
});
