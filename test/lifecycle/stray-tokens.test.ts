import { describe, expect, it } from "vitest";
import { newRecord } from "../../shared/fleet/record.ts";
import { erased, servedUnasked } from "../scenarios/acts.ts";
import type { Model } from "../scenarios/model.ts";
import { acts, times } from "./seen.ts";

/** Erased, and the BMC says off in the pass that comes. */
function draining(): Model {
  const m = erased();
  m.job({ state: "completed" });
  m.lines.length = 0;
  return m;
}

describe("a bootstrap token of the device that its record does not name as live", () => {
  it("token: one that the record does not name as live is deleted, said once; its own stays", () => {
    const m = servedUnasked();
    const own = { id: "abcdef", deviceId: 7, expiresAtMs: m.nowMs + 3_600_000 };
    m.tokens = [own, { id: "zzzzzz", deviceId: 7, expiresAtMs: null }];
    expect(acts(m.pass())).toEqual(["delete-token zzzzzz"]);
    expect(m.tokens).toEqual([own]);
    expect(m.record.due).toEqual([]);
    m.tokens = [...m.tokens, { id: "zzzzzz", deviceId: 7, expiresAtMs: null }];
    expect(acts(m.pass())).toEqual(["delete-token zzzzzz"]);
    expect(times(m, "journal warning: bootstrap token zzzzzz is live, and the record does not say so: deleted")).toBe(
      1,
    );
    expect(m.record.token).toMatchObject({ id: "abcdef", deletedAtMs: null });
  });

  it("token: one that came into the cluster after its deletion is deleted again", () => {
    const m = servedUnasked();
    m.minutes(61);
    expect(acts(m.pass())).toEqual(["delete-token abcdef"]);
    m.tokens = [{ id: "abcdef", deviceId: 7, expiresAtMs: null }];
    expect(acts(m.pass())).toEqual(["delete-token abcdef"]);
  });

  it("token: after all records are lost, the old one goes in the first pass", () => {
    const m = servedUnasked();
    m.tokens = [{ id: "abcdef", deviceId: 7, expiresAtMs: m.nowMs + 3_600_000 }];
    m.record = newRecord(7, "w1");
    expect(acts(m.pass())).toContain("delete-token abcdef");
    expect(m.tokens).toEqual([]);
    expect(acts(m.pass())).toEqual([]);
  });
});

describe("a bootstrap token that the record does not name", () => {
  it("row 31: it goes before the device is offline", () => {
    const m = draining();
    m.tokens = [{ id: "zzzzzz", deviceId: 7, expiresAtMs: m.nowMs + 3_600_000 }];
    const lines = acts(m.pass());
    expect(lines.indexOf("delete-token zzzzzz")).toBeGreaterThanOrEqual(0);
    expect(lines.indexOf("netbox: status=offline")).toBeGreaterThan(lines.indexOf("delete-token zzzzzz"));
  });

  it("row 31: it goes where the cluster was clean already, in the very pass that says offline", () => {
    const m = draining();
    m.until("put-record", (r) => r.retire !== null && r.retire.clusterCleanAtMs !== null);
    m.tokens = [{ id: "zzzzzz", deviceId: 7, expiresAtMs: null }];
    const lines = acts(m.pass());
    expect(lines.indexOf("delete-token zzzzzz")).toBeGreaterThanOrEqual(0);
    expect(lines.indexOf("netbox: status=offline")).toBeGreaterThan(lines.indexOf("delete-token zzzzzz"));
  });
});
