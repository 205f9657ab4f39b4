import { describe, expect, it } from "vitest";
import {
  claimed,
  configAccess,
  configuredName,
  contendedBy,
  missing,
  noteOf,
  outrun,
  refetched,
  released,
  turnsActive,
} from "../../shared/fleet/plan/config-access.ts";
import { attests, declared, minted, reads, request } from "../scenarios/acts.ts";
import type { Model } from "../scenarios/model.ts";
import { acts, conditions, said, times } from "./seen.ts";

/** Installed by the agent's word; the code is minted and unread. */
function unread(): Model {
  const m = declared();
  attests(m);
  m.pass("confirm");
  minted(m);
  m.agent(2, "RUNNING");
  m.pass();
  m.agent(6, "SUCCESS");
  m.pass();
  m.lines.length = 0;
  return m;
}

function access(m: Model, peer = "10.0.0.7"): string {
  const { config } = m.record;
  if (config === null) throw new Error("no config");
  const answer = configAccess(m.record, m.device, config, peer);
  return answer.answer === "serve" ? "serve" : answer.code;
}

describe("who reads", () => {
  it("config: a planned device's current provision, unfinished or ended by SUCCESS, unread: served", () => {
    const m = unread();
    expect(access(m)).toBe("serve");
    const { run } = m.record;
    if (run === null) throw new Error("no run");
    m.record = { ...m.record, run: { ...run, phase: "running", result: null, terminal: null } };
    expect(access(m)).toBe("serve");
  });

  it("config: a run that is over otherwise, or is another than its own, serves nothing", () => {
    const m = unread();
    const { run } = m.record;
    if (run === null) throw new Error("no run");
    m.record = { ...m.record, run: { ...run, result: "failed" } };
    expect(access(m)).toBe("config-missing");
    m.record = { ...m.record, run: { ...run, name: "another" } };
    expect(access(m)).toBe("config-missing");
  });

  it.each(["active", "offline", "decommissioning", "staged"])(
    "config: status %s: not-planned, nothing consumed",
    (status) => {
      const m = unread();
      m.write({ status });
      expect(access(m)).toBe("not-planned");
      expect(noteOf("not-planned", "h", m.nowMs)).toBeNull();
    },
  );

  it("config: a consumed code is consumed whatever the status", () => {
    const m = unread();
    reads(m);
    for (const status of ["planned", "active", "offline"]) {
      m.write({ status });
      expect(access(m)).toBe("code-consumed");
    }
  });

  it("config: claimed in the record once: the second claim fails, whatever the store says", () => {
    const m = unread();
    const first = claimed("h", "n1", "10.0.0.7", m.nowMs)(m.record);
    expect(first?.config?.state).toBe("serving");
    expect(first && claimed("h", "n2", "10.0.0.8", m.nowMs)(first)).toBeNull();
    expect(claimed("other", "n3", "10.0.0.7", m.nowMs)(m.record)).toBeNull();
  });

  it("config: who looked before another reader came and broke off finds it kept for that one (simulation, seed 64)", () => {
    const m = unread();
    const config = m.record.config;
    const first = claimed("h", "n1", "10.0.0.99", m.nowMs)(m.record);
    const broke = first && released("n1", { bytesSent: 0 }, m.nowMs)(first);
    expect(broke?.config).toMatchObject({ state: "unread", peer: "10.0.0.99", breaks: 1 });
    expect(config && configAccess(m.record, m.device, config, "10.0.0.7")).toEqual({ answer: "serve" });
    expect(broke && claimed("h", "n2", "10.0.0.7", m.nowMs)(broke)).toBeNull();
    expect(broke && outrun("h", "10.0.0.7", m.nowMs)(broke)?.config?.contendedAtMs).toBe(m.nowMs);
    // The same peer may, and is no second one.
    expect(broke && outrun("h", "10.0.0.99", m.nowMs)(broke)).toBeNull();
    expect(broke && claimed("h", "n3", "10.0.0.99", m.nowMs)(broke)?.config?.state).toBe("serving");
  });

  it("config: the node is named as its certificates say, also where NetBox has another name since", () => {
    const m = unread();
    m.write({ name: "w9" });
    expect(configuredName(m.device, m.record)).toBe("w1");
    expect(configuredName(m.device, { pendingIdentity: null })).toBe("w9");
  });

  it("config: only a planned device turns active, and only by the serving that ended as served", () => {
    const m = unread();
    reads(m);
    const served = { ...m.record, config: m.record.config && { ...m.record.config, nonce: "n" } };
    expect(turnsActive({ status: "planned" }, served, "n")).toBe(true);
    expect(turnsActive({ status: "decommissioning" }, served, "n")).toBe(false);
    expect(turnsActive({ status: "planned" }, served, "another")).toBe(false);
  });
});

it("config: served: that its payload goes is owed in the very write that says so, and done once", () => {
  const m = unread();
  reads(m);
  expect(m.record.due).toEqual([{ do: "drop-config" }]);
  expect(acts(m.pass())).toContain("drop-config");
  expect([m.record.due, acts(m.pass())]).toEqual([[], []]);
});

describe("what takes an unread configuration away, with its token", () => {
  it.each([
    ["active by its owner", { status: "active" }],
    ["offline", { status: "offline" }],
    ["another status", { status: "staged" }],
  ] as const)("config: leaving planned: %s", (_name, change) => {
    const m = unread();
    m.owner(change, request(2));
    const lines = m.pass();
    expect(acts(lines)).toContain("drop-config");
    expect(acts(lines)).toContain("delete-token abcdef");
    expect([m.record.config?.state, times(m, "the unread configuration and its token are removed")]).toEqual([
      "removed",
      1,
    ]);
  });

  it("config: another run of the device", () => {
    const m = unread();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.pass();
    expect(m.record.config?.state).toBe("removed");
  });

  it("config: kept for longer than its TTL by the pass, one step an hour", () => {
    const m = unread();
    m.minutes(61);
    expect(acts(m.pass())).toEqual(["keep-config"]);
    expect(acts(m.pass())).toEqual([]);
  });
});

describe("alarms", () => {
  it("config: refetched: true while requests go on, for 2 h; the first is said", () => {
    const m = unread();
    reads(m);
    m.node();
    m.pass();
    if (m.record.token) m.record = { ...m.record, token: { ...m.record.token, deletedAtMs: m.nowMs } };
    m.record = refetched("h", m.nowMs)(m.record) ?? m.record;
    m.pass();
    expect(conditions(m)).toEqual(["InstallConfigRefetched/code-consumed"]);
    m.minutes(100);
    m.record = refetched("h", m.nowMs)(m.record) ?? m.record;
    m.minutes(100);
    m.pass();
    expect(conditions(m)).toEqual(["InstallConfigRefetched/code-consumed"]);
    expect(times(m, "journal danger: its consumed install code is used again")).toBe(1);
    m.minutes(30);
    m.pass();
    expect(conditions(m)).toEqual([]);
  });

  it("config: missing: true while requests go on; the device stays planned", () => {
    const m = unread();
    m.record = missing("h", m.nowMs)(m.record) ?? m.record;
    m.pass();
    expect([conditions(m), m.device.status]).toEqual([
      ["ConfigUnread/unread", "InstallConfigMissing/config-missing"],
      "planned",
    ]);
  });

  it("config: contended: a danger line; a new provision ends it", () => {
    const m = unread();
    m.record = contendedBy("h", m.nowMs)(m.record) ?? m.record;
    expect(access(m)).toBe("config-being-served");
    const lines = m.pass();
    expect(said(lines).join()).toContain("two readers used one install code");
    m.owner({ desiredAction: "provision" }, request(2));
    m.pass();
    attests(m);
    minted(m);
    expect(access(m)).toBe("serve");
  });

  it("config: a break releases it for the same peer alone, three times", () => {
    const m = unread();
    for (let n = 1; n <= 3; n++) {
      const serving = claimed("h", "n", "10.0.0.7", m.nowMs)(m.record);
      m.record = (serving && released("n", { bytesSent: 5 }, m.nowMs)(serving)) ?? m.record;
      expect(access(m, "10.0.0.8")).toBe("config-being-served");
      expect(access(m)).toBe(n < 3 ? "serve" : "config-being-served");
    }
  });

  it("config: a serving that nobody ended is lost: consumed, said, and never served again", () => {
    const m = unread();
    m.record = claimed("h", "n", "10.0.0.7", m.nowMs)(m.record) ?? m.record;
    m.minutes(10);
    m.pass();
    expect(m.record.config?.state).toBe("serving");
    m.minutes(2);
    const lines = m.pass();
    expect(said(lines)).toContain(
      "journal danger: a serving ended with nobody to say how: its code counts as consumed",
    );
    expect([m.record.config?.state, access(m), m.device.status]).toEqual(["lost", "code-consumed", "planned"]);
  });
});
