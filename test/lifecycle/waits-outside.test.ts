import { describe, expect, it } from "vitest";
import { attests, declared, kubeletAsks, servedUnasked } from "../scenarios/acts.ts";
import { conditions, times } from "./seen.ts";

describe("a node that is not in the cluster", () => {
  it("csr: told once it had its configuration for a quarter of an hour, and not any more once its Node is there", () => {
    const m = servedUnasked();
    m.pass();
    expect([conditions(m), m.device.status]).toEqual([[], "active"]);
    m.minutes(16);
    m.pass();
    m.pass();
    expect(conditions(m)).toEqual(["NodeMissing/not-joined"]);
    expect(times(m, "journal warning: its configuration was served")).toBe(1);
    kubeletAsks(m);
    m.pass();
    m.node();
    m.pass();
    expect(conditions(m)).toEqual([]);
  });

  it("csr: once its token ended unused its owner is told that it cannot join any more", () => {
    const m = servedUnasked();
    m.pass();
    m.minutes(61);
    for (let n = 0; n < 3; n++) m.pass();
    expect(m.record.token?.deletedAtMs).not.toBeNull();
    expect(conditions(m)).toEqual(["NodeMissing/token-over"]);
  });

  it("csr: nothing is said while the cluster does not answer", () => {
    const m = servedUnasked();
    m.pass();
    m.minutes(16);
    m.cluster = null;
    m.pass();
    expect(conditions(m).filter((c) => c.startsWith("NodeMissing"))).toEqual([]);
  });
});

it("row 4: what Tinkerbell cannot render is told in its words, until it can", () => {
  const m = declared();
  attests(m);
  m.pass("confirm");
  const { bootPlane } = m;
  const [workflow] = bootPlane?.workflows ?? [];
  if (bootPlane === null || workflow === undefined) throw new Error("no Workflow");
  bootPlane.workflows = [{ ...workflow, problem: "template not found" }];
  m.pass();
  m.pass();
  expect(conditions(m)).toEqual(["RunWaits/not-rendered"]);
  expect(
    times(m, "journal warning: Tinkerbell makes nothing of the Workflow (Template provision): template not found"),
  ).toBe(1);
  bootPlane.workflows = [{ ...workflow, problem: "" }];
  m.pass();
  expect(conditions(m)).toEqual([]);
});
