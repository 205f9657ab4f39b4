import { describe, expect, it } from "vitest";
import { protocolCode } from "../../../functions/attest/protocol-code.ts";
import { REFUSAL_CODES } from "../../../shared/attest/verdict.ts";
import { CONDITIONS } from "../../../shared/fleet/condition.ts";
import { statusOf } from "../../../shared/runtime/problem.ts";

describe("what a machine is told for a planner's reason", () => {
  it.each(Object.keys(CONDITIONS.MachineWaits.reasons))(
    "%s is itself, a code of the protocol, and no success",
    (code) => {
      expect(protocolCode(code)).toBe(code);
      expect(REFUSAL_CODES).toContain(code);
      expect(statusOf(protocolCode(code))).toBeGreaterThanOrEqual(400);
    },
  );

  it.each(Object.keys(CONDITIONS.RequestWaits.reasons))(
    "a gate's %s is told as a wait that an owner can read",
    (code) => {
      expect(CONDITIONS.MachineWaits.reasons).toHaveProperty([protocolCode(code)]);
    },
  );

  it.each([
    ["change-log", "inventory-unavailable", 503],
    ["mac-unknown", "interface-ambiguous", 409],
    ["cluster-token", "request-held", 409],
    ["a reason of tomorrow", "run-preparing", 409],
    ["toString", "run-preparing", 409],
  ])("%s: %s", (reason, code, status) => {
    expect(protocolCode(reason)).toBe(code);
    expect(statusOf(protocolCode(reason))).toBe(status);
  });
});
