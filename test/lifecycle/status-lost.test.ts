import { expect, it } from "vitest";
import { off, request, workflowOf } from "../scenarios/acts.ts";
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
