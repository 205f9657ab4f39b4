import { describe, expect, it } from "vitest";
import { claimed, served } from "../../shared/fleet/plan/config-access.ts";
import { afterIntake } from "../../shared/fleet/plan/quarantine.ts";
import { newRecord, unreadConfig } from "../../shared/fleet/record.ts";
import { needsChanges } from "../../shared/fleet/request.ts";
import { Model } from "../scenarios/model.ts";

const UUID = "11111111-2222-4333-8444-555555555555";
const request = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;

function attests(m: Model): void {
  const verdict = {
    result: "pass" as const,
    by: "intake" as const,
    atMs: m.nowMs,
    codes: [],
    dbxHash: "d1",
    sbatLevel: null,
  };
  m.record = afterIntake(m.record, m.device, verdict, { uuid: UUID, massFailure: false });
}

function minted(m: Model): void {
  m.record = {
    ...m.record,
    config: unreadConfig("h", m.record.run?.name ?? "", m.nowMs),
    token: { id: "abcdef", expiresAtMs: m.nowMs + 3_600_000, csr: null, contended: false, deletedAtMs: null },
  };
}

function reads(m: Model): void {
  const serving = claimed("h", "n", "10.0.0.7", m.nowMs)(m.record);
  const done = serving && served("n", m.nowMs)(serving);
  if (!done) throw new Error("not served");
  m.record = done;
}

/** Planned, installed, its configuration served; no pass has seen that yet. */
function servedUnseen(): Model {
  const m = new Model();
  m.owner({ status: "active" }, request(0));
  m.owner({ status: "planned" }, request(1));
  attests(m);
  m.pass("confirm");
  minted(m);
  m.agent(6, "SUCCESS");
  m.pass();
  reads(m);
  return m;
}

function csr(m: Model, name: string, change: { username?: string; commonName?: string; spki?: string } = {}): void {
  m.cluster?.csrs.push({
    name,
    uid: `uid-${name}`,
    resourceVersion: "1",
    username: change.username ?? "system:bootstrap:abcdef",
    groups: [],
    signerName: "kubernetes.io/kube-apiserver-client-kubelet",
    usages: ["digital signature", "client auth"],
    createdAtMs: m.nowMs,
    decision: "pending",
    request: {
      commonName: change.commonName ?? "system:node:w1",
      organizations: ["system:nodes"],
      otherSubject: false,
      hasSan: false,
      keyType: "EC",
      spkiSha256: change.spki ?? "k1",
    },
  });
}

const enabled = (m: Model) => (m.bootPlane?.workflows ?? []).filter((w) => !w.disabled);

describe("a Workflow whose run is over does not stay enabled (invariants 1, 2)", () => {
  it("goes when its own deadline passed before any action began: protected afterwards, it would wipe", () => {
    const m = new Model();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.pass();
    expect(enabled(m)).toHaveLength(1);
    m.minutes(61);
    m.pass();
    expect(m.record.run?.result).toBe("failed");
    m.owner({ protected: true }, request(2));
    m.pass();
    expect(enabled(m)).toEqual([]);
  });

  it("goes when it was enabled in the moment in which another actor withdrew its run", () => {
    const m = new Model();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.pass();
    const { run } = m.record;
    if (run === null) throw new Error("no run");
    m.record = {
      ...m.record,
      run: {
        ...run,
        phase: "ended",
        result: "withdrawn",
        terminal: { state: "WITHDRAWN", atMs: m.nowMs, action: null, detail: "" },
      },
    };
    m.owner({ protected: true }, request(2));
    m.pass();
    expect(enabled(m)).toEqual([]);
  });

  it("goes when its machine was powered off in the middle of it for a retirement that then waits", () => {
    const m = servedUnseen();
    m.pass();
    m.owner({ desiredAction: "wipe" }, request(3));
    m.pass();
    m.agent(1, "RUNNING");
    m.pass();
    m.owner({ status: "decommissioning", protected: true }, request(4));
    m.pass();
    m.job({ state: "completed" });
    m.pass();
    expect(m.record.run?.terminal?.state).toBe("STOPPED");
    expect(enabled(m)).toEqual([]);
  });
});

it("a Workflow that was enabled and is gone when fleetd comes back is not made again (invariant 1)", () => {
  const m = new Model();
  m.owner({ desiredAction: "wipe" }, request(1));
  m.until("enable-workflow");
  expect(enabled(m)).toHaveLength(1);
  if (m.bootPlane !== null) m.bootPlane.workflows = [];
  const lines = m.pass();
  expect(lines.filter((l) => l.startsWith("create Workflow") || l.startsWith("enable"))).toEqual([]);
  expect(m.record.run?.phase).toBe("ended");
});

describe("NetBox's status is the owner's (invariants 6, 10)", () => {
  it("planned set right after the serving is a request for a new install, not a lost write of active", () => {
    const m = servedUnseen();
    m.write({ status: "active" });
    m.owner({ status: "planned" }, request(2));
    m.pass();
    expect(m.device.status).toBe("planned");
    attests(m);
    m.pass("confirm");
    expect(m.record.run?.request.id).toBe(request(2));
  });

  it("an older row that is saved over active right after it was seen is no owner's word: active again", () => {
    const m = servedUnseen();
    m.pass();
    expect(m.record.installed?.activatedAtMs).not.toBeNull();
    m.write({ status: "planned" });
    m.pass();
    expect(m.device.status).toBe("active");
  });

  it("a wipe asked for before active was written leaves the device planned", () => {
    const m = servedUnseen();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.agent(1, "RUNNING");
    m.pass();
    m.agent(2, "SUCCESS");
    m.pass();
    expect(m.record.run?.result).toBe("wiped");
    expect(m.device.status).toBe("planned");
  });
});

it("a record that is lost does not make an old request fresh: fleet_run is the second copy (invariant 18)", () => {
  const m = new Model();
  m.owner({ status: "active" }, request(0));
  m.owner({ status: "planned" }, request(1));
  attests(m);
  m.pass("confirm");
  m.agent(1, "FAILED", "FAILED");
  m.pass();
  expect(m.record.run?.result).toBe("failed");
  m.record = newRecord(7, "w1");
  if (m.bootPlane !== null) m.bootPlane.workflows = [];
  m.pass();
  attests(m);
  const lines = m.pass("confirm");
  expect(lines.filter((l) => l.startsWith("create Workflow"))).toEqual([]);
  expect(m.record.run).toBeNull();
});

it("a record that went back does not make an old request fresh either", () => {
  const m = new Model();
  const old = m.record;
  m.owner({ status: "active" }, request(0));
  m.owner({ status: "planned" }, request(1));
  m.owner({ desiredAction: "wipe" }, request(2));
  m.pass();
  m.agent(2, "SUCCESS");
  m.pass();
  expect(m.record.run?.result).toBe("wiped");
  m.record = old;
  if (m.bootPlane !== null) m.bootPlane.workflows = [];
  attests(m);
  const lines = m.pass("confirm");
  expect(lines.filter((l) => l.startsWith("create Workflow"))).toEqual([]);
});

it("a device can be retired in its second life: the change log is read for it", () => {
  const m = new Model();
  m.owner({ status: "decommissioning" }, request(1));
  m.pass();
  const { retire } = m.record;
  if (retire === null) throw new Error("not retiring");
  const once = { ...m.record, retire: { ...retire, offlineAtMs: m.nowMs } };
  expect(needsChanges({ ...m.device, status: "decommissioning" }, once)).toBe(true);
});

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
