import { expect, it } from "vitest";
import { off, request, retiring, workflowOf } from "../scenarios/acts.ts";
import { acts, conditions } from "./seen.ts";

it("row 34: a retired device that its owner set active and asks to provision is not set offline again by fleetd's own planned", () => {
  const m = off();
  m.pass();
  m.pass();
  expect(m.device.status).toBe("offline");
  m.owner({ status: "active" }, request(11));
  m.pass();
  m.owner({ desiredAction: "provision" }, request(12));
  const lines = acts([...m.pass(), ...m.pass()]);
  expect(lines).not.toContain("netbox: status=offline");
  expect([m.device.status, m.record.run?.name]).toEqual(["planned", workflowOf("provision", 12)]);
  expect(conditions(m)).not.toContain("StatusForbids/offline");
});

it("row 34: offline by its owner's hand, and NetBox back from before: fleetd does not call it offline by itself", () => {
  const m = retiring();
  m.agent(1, "FAILED", "FAILED");
  m.pass();
  m.owner({ status: "offline" }, request(10));
  m.pass();
  m.pass();
  expect(m.record.retire?.offlineAtMs).not.toBeNull();
  m.changes = (m.changes ?? []).filter((c) => c.requestId !== request(10));
  m.write({ status: "decommissioning" });
  expect(acts([...m.pass(), ...m.pass()])).toEqual([]);
  expect([m.device.status, conditions(m)]).toEqual(["decommissioning", ["RequestHeld/request-held"]]);
});
