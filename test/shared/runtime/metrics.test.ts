import { expect, it } from "vitest";
import { Metrics } from "../../../shared/runtime/metrics.ts";

it("evidence that was lost is counted, without the device's name", async () => {
  const metrics = new Metrics();
  const lost = { kind: "evidence-lost", device: "w1", code: "unavailable", text: "ENOSPC" } as const;
  expect(await metrics.registry.metrics()).toMatch(/^fleetd_evidence_lost_total 0$/m);
  for (let i = 0; i < 2; i++) metrics.event(lost, 0);
  const text = await metrics.registry.metrics();
  expect(text).toMatch(/^fleetd_evidence_lost_total 2$/m);
  expect(text).not.toContain("w1");
});
