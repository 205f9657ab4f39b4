import { expect, test } from "vitest";
import { expiryCheck } from "../../../infra/fleetctl/doctor/times.ts";

const DAY_MS = 86_400_000;

test.each([
  [-1, "failed", /^expired on 20/],
  [0, "failed", /^expired on 20/],
  [3.5 * DAY_MS, "warning", /^expires in 3 days, on 20/],
  [20 * DAY_MS, "ok", /^valid until 20/],
])("a certificate that ends in %d ms: %s", (leftMs, result, text) => {
  const check = expiryCheck("x", Date.now() + leftMs);
  expect([check.result, check.text]).toEqual([result, expect.stringMatching(text)]);
});
