import { describe, expect, it } from "vitest";
import type { Model } from "../scenarios/model.ts";
import { csr, request, servedUnseen } from "./installed.ts";

describe("CSRs by the hundred (invariant 11)", () => {
  it("misfits of the node's own token are one condition and one line", () => {
    const m = servedUnseen();
    m.pass();
    for (let i = 0; i < 300; i++) csr(m, `bad-${i}`, { commonName: `system:node:other${i}` });
    m.pass();
    const lines = m.pass();
    expect(lines.filter((l) => l.startsWith("journal"))).toEqual([]);
    expect(m.record.conditions.filter((c) => c.type === "CsrRefused")).toHaveLength(1);
  });

  it("of strangers under three hundred names are said once", () => {
    const m = servedUnseen();
    m.pass();
    for (let i = 0; i < 300; i++) csr(m, `foreign-${i}`, { username: `someone-${i}` });
    m.pass();
    m.owner({ desiredAction: "attest" }, request(9));
    m.pass();
    expect(m.pass().filter((l) => l.startsWith("journal"))).toEqual([]);
  });

  it("a condition that stays is not said again when its line has left the record", () => {
    const m = servedUnseen();
    m.pass();
    m.owner({ desiredAction: "provision" }, request(5));
    m.conflict = "shares serial sn0001 with w2 (device 8)";
    m.pass();
    const line = { level: "info" as const, code: "x", text: "x", dueAtMs: m.nowMs, sent: true };
    m.record = { ...m.record, journal: Array.from({ length: 60 }, (_, i) => ({ ...line, mark: `[fleetd ${i}]` })) };
    expect(m.pass().filter((l) => l.startsWith("journal"))).toEqual([]);
  });
});

it("a CSR of the token that somebody else approved is said, and the token still ends after a minute (invariant 8)", () => {
  const m = servedUnseen();
  m.pass();
  csr(m, "node-csr-1");
  if (m.cluster !== null) m.cluster.csrs = m.cluster.csrs.map((c) => ({ ...c, decision: "approved" as const }));
  expect(m.pass().join()).toContain("and not by fleetd");
  m.minutes(2);
  m.pass();
  expect(m.record.token?.deletedAtMs).not.toBeNull();
});

it("a consumed code used again while its token lives ends the token and holds the node (spec/30, Workload cluster)", () => {
  const m = servedUnseen();
  m.pass();
  m.node();
  const { config } = m.record;
  if (config === null) throw new Error("no config");
  m.record = { ...m.record, config: { ...config, refetchedAtMs: m.nowMs } };
  csr(m, "node-csr-1");
  const lines = m.pass();
  expect(lines.filter((l) => l.startsWith("approve"))).toEqual([]);
  expect(m.record.token?.deletedAtMs).not.toBeNull();
  expect(m.cluster?.node?.taints).toHaveLength(1);
  expect(m.record.conditions.map((c) => c.type)).toContain("BootstrapTokenContended");
});

describe("offline is written only over a cluster that is clean (invariant 7)", () => {
  function clean(): Model {
    const m = servedUnseen();
    m.pass();
    m.owner({ status: "decommissioning" }, request(2));
    m.pass();
    m.agent(4, "SUCCESS");
    m.pass();
    m.job({ state: "completed" });
    return m;
  }

  it("a Node that came back after the cluster was clean is deleted first", () => {
    const m = clean();
    m.until("put-record", (r) => r.retire?.clusterCleanAtMs != null);
    m.node();
    const lines = m.pass();
    expect(m.cluster?.node).toBeNull();
    expect(lines.findIndex((l) => l.startsWith("delete-node"))).toBeGreaterThanOrEqual(0);
    expect(m.device.status).toBe("offline");
    expect(lines.findIndex((l) => l.startsWith("delete-node"))).toBeLessThan(
      lines.findIndex((l) => l.includes("status=offline")),
    );
  });
});
