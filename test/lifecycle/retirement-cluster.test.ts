import { describe, expect, it } from "vitest";
import { aPod, erased, installed, off, request } from "../scenarios/acts.ts";
import type { Model } from "../scenarios/model.ts";
import { acts, conditions, said, times } from "./seen.ts";

/** Erased, and the BMC says off in the pass that comes; its Node has these pods. */
function draining(...names: string[]): Model {
  const m = erased();
  m.job({ state: "completed" });
  if (m.cluster) m.cluster.pods = names.map((name) => aPod(name));
  m.lines.length = 0;
  return m;
}

describe("row 27: the cluster does not answer", () => {
  it("row 27: it waits, said once, tried each pass, and goes on when it answers", () => {
    const m = draining();
    const { cluster } = m;
    m.cluster = null;
    m.pass();
    m.pass();
    expect(conditions(m)).toEqual(["RetirementWaits/cluster-unavailable"]);
    expect(times(m, "journal info: waits: the workload cluster does not answer")).toBe(1);
    expect(m.device.status).toBe("decommissioning");
    m.cluster = cluster;
    m.pass();
    expect(m.device.status).toBe("offline");
  });
});

describe("rows 28 and 29: cordon, drain, delete", () => {
  it("row 28: the Node's UID, cordon, the clock once, evictions by the pods' UIDs", () => {
    const m = draining("web");
    expect(acts(m.pass())).toEqual(["node: unschedulable=true taint=false reason=retire", "evict web"]);
    const { node, retire } = m.record;
    expect([node?.uid, retire?.drainRounds]).toEqual([m.cluster?.node?.uid, 1]);
    const since = retire?.drainSinceMs;
    m.minutes(3);
    m.pass();
    expect(m.record.retire).toMatchObject({ drainSinceMs: since, drainRounds: 2, blocked: ["default/web"] });
    expect(conditions(m)).toEqual(["RetirementWaits/draining"]);
  });

  it("row 28: DaemonSet, mirror, finished and terminating pods are left", () => {
    const m = draining();
    if (m.cluster)
      m.cluster.pods = [
        aPod("ds", { daemonSet: true }),
        aPod("mirror", { mirror: true }),
        aPod("done", { phase: "Succeeded" }),
        aPod("failed", { phase: "Failed" }),
        aPod("going", { terminating: true }),
      ];
    const lines = m.pass();
    expect(acts(lines).filter((l) => l.startsWith("evict"))).toEqual([]);
    expect(m.device.status).toBe("offline");
  });

  it("row 29: all accepted: Node by its UID, CSRs, token, then offline", () => {
    const m = draining("web");
    m.pass();
    if (m.cluster) m.cluster.pods = [aPod("web", { terminating: true })];
    expect(acts(m.pass())).toEqual([
      "delete-node w1",
      "delete-csr node-csr-1",
      "netbox: status=offline",
      "free-slot",
      "netbox: fleetIdentity=null",
    ]);
  });

  it("row 29: one clock of ten minutes, across restarts; then it proceeds and names the pods that blocked", () => {
    const m = draining("web", "db");
    m.pass();
    m.minutes(6);
    // A restart: all that is kept is the record.
    m.record = JSON.parse(JSON.stringify(m.record));
    m.pass();
    expect(m.cluster?.node).not.toBeNull();
    m.minutes(4);
    const lines = m.pass();
    expect(said(lines)).toContain(
      "journal warning: the drain clock is over; these pods blocked: default/web, default/db",
    );
    expect(acts(lines)).toContain("delete-node w1");
    expect(m.device.status).toBe("offline");
  });

  it("row 29: the clock over while the API was down: one full round of evictions first", () => {
    const m = draining("web");
    m.until("put-record", (record) => record.retire?.drainSinceMs !== null);
    const { cluster } = m;
    m.cluster = null;
    m.minutes(30);
    m.pass();
    m.cluster = cluster;
    const first = m.pass();
    expect(acts(first)).toContain("evict web");
    expect(m.cluster?.node).not.toBeNull();
    expect(acts(m.pass())).toContain("delete-node w1");
  });

  it("row 29: the node undoes its cordon: it is cordoned again before anything goes on", () => {
    const m = draining("web");
    m.pass();
    if (m.cluster?.node) m.cluster.node = { ...m.cluster.node, unschedulable: false };
    expect(acts(m.pass())).toEqual(["node: unschedulable=true taint=false reason=retire", "evict web"]);
  });

  it("row 29: a token that lives goes with it", () => {
    const m = draining();
    if (m.record.token !== null) m.record = { ...m.record, token: { ...m.record.token, deletedAtMs: null } };
    expect(acts(m.pass())).toContain("delete-token abcdef");
  });

  it("row 29: a renamed device: the Node that goes is the one that it was installed as", () => {
    const m = installed();
    m.owner({ name: "w9" }, request(2));
    m.owner({ status: "decommissioning" }, request(9));
    m.pass();
    m.agent(4, "SUCCESS");
    m.pass();
    m.job({ state: "completed" });
    const lines = m.pass();
    expect(acts(lines)).toContain("delete-node w1");
    expect(acts(lines)).toContain("delete-csr node-csr-1");
  });
});

describe("rows 30 and 31: the end", () => {
  it("row 30: a Node of that name comes back: deleted again, a danger line, and offline all the same", () => {
    const m = draining("web");
    m.pass();
    if (m.cluster) m.cluster.pods = [];
    m.until("delete-node");
    m.node();
    const lines = m.pass();
    expect(said(lines)).toContain("journal danger: a Node w1 came back during retirement and is deleted again");
    expect(acts(lines)).toContain("delete-node w1");
    expect(m.device.status).toBe("offline");
  });

  it("row 31: offline is written over decommissioning only", () => {
    const m = draining();
    m.until("delete-csr");
    m.owner({ status: "active" }, request(10));
    const lines = m.pass();
    expect(acts(lines).join()).not.toContain("status=offline");
    expect(m.device.status).toBe("active");
  });

  it("row 31: a retired device rests", () => {
    const m = off();
    expect([acts(m.pass()), m.pass()]).toEqual([[], []]);
  });
});
