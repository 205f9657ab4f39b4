import { unreadConfig } from "../../shared/fleet/record.ts";
import { attests, kubeletAsks, reads } from "./acts.ts";
import { Model } from "./model.ts";

export interface Story {
  readonly name: string;
  readonly tell: () => Model;
}

function minted(m: Model): void {
  const { run } = m.record;
  if (run === null) throw new Error("no run to mint for");
  m.say("handler: code minted, configuration stored");
  m.record = {
    ...m.record,
    config: unreadConfig("h", run.name, m.nowMs),
    token: { id: "abcdef", expiresAtMs: null, csr: null, contended: false, deletedAtMs: null },
  };
}

/** planned → active, the ordinary path. */
export function installed(): Model {
  const m = new Model();
  m.owner({ status: "planned" }, "aaaaaaaa-0000-4000-8000-000000000001");
  m.changes = (m.changes ?? []).map((c) => ({ ...c, action: "create" as const, before: null }));
  m.pass();
  attests(m, "pass");
  m.pass("confirm");
  minted(m);
  m.agent(2, "RUNNING");
  m.pass();
  m.agent(6, "SUCCESS");
  m.pass();
  reads(m);
  m.pass();
  m.node();
  kubeletAsks(m);
  m.pass();
  m.minutes(2);
  m.pass();
  return m;
}

function retiring(): Model {
  const m = installed();
  m.lines.length = 0;
  m.owner({ status: "decommissioning" }, "dddddddd-0000-4000-8000-000000000004");
  m.pass();
  return m;
}

export const stories: readonly Story[] = [
  { name: "first-install", tell: installed },
  {
    name: "served-before-its-first-action-was-seen",
    tell: () => {
      const m = new Model();
      m.owner({ status: "planned" }, "aaaaaaaa-0000-4000-8000-00000000000c");
      m.changes = (m.changes ?? []).map((c) => ({ ...c, action: "create" as const, before: null }));
      attests(m, "pass");
      m.pass("confirm");
      minted(m);
      m.agent(6, "SUCCESS");
      reads(m);
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "no-request-no-install",
    tell: () => {
      const m = installed();
      m.lines.length = 0;
      m.owner({ desiredAction: "wipe" }, "cccccccc-0000-4000-8000-000000000003");
      m.pass();
      m.agent(2, "SUCCESS");
      m.pass();
      attests(m, "pass");
      m.pass("confirm");
      return m;
    },
  },
  {
    name: "gates",
    tell: () => {
      const m = new Model({ installDiskSerial: null, protected: true });
      m.owner({ desiredAction: "provision" }, "bbbbbbbb-0000-4000-8000-000000000002");
      m.pass();
      m.write({ protected: false });
      m.pass();
      m.write({ installDiskSerial: "S1", fleetClass: "unpinned" });
      m.pass();
      m.write({ fleetClass: "nosuch" });
      m.pass();
      m.conflict = "shares serial sn0001 with w2 (device 8)";
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "attest-then-other-request",
    tell: () => {
      const m = installed();
      m.lines.length = 0;
      m.owner({ desiredAction: "attest" }, "eeeeeeee-0000-4000-8000-000000000005");
      m.pass();
      m.owner({ desiredAction: "wipe" }, "eeeeeeee-0000-4000-8000-000000000006");
      m.pass();
      attests(m, "pass");
      m.agent(1, "SUCCESS");
      m.pass();
      return m;
    },
  },
  {
    name: "success-with-an-action-missing",
    tell: () => {
      const m = new Model();
      m.owner({ desiredAction: "wipe" }, "ffffffff-0000-4000-8000-000000000007");
      m.pass();
      m.agent(1, "SUCCESS", "PENDING");
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "protected-takes-a-request-back",
    tell: () => {
      const m = new Model();
      m.owner({ desiredAction: "wipe" }, "ffffffff-0000-4000-8000-000000000008");
      m.pass();
      m.owner({ protected: true }, "ffffffff-0000-4000-8000-000000000009");
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "old-row-brought-back",
    tell: () => {
      const m = installed();
      m.lines.length = 0;
      m.owner({ desiredAction: "attest" }, "eeeeeeee-0000-4000-8000-00000000000a");
      m.pass();
      attests(m, "pass");
      m.agent(1, "SUCCESS");
      m.pass();
      m.say("somebody's older row is saved over ours");
      m.write({ desiredAction: "attest" });
      m.pass();
      return m;
    },
  },
  {
    name: "retirement",
    tell: () => {
      const m = retiring();
      m.agent(4, "SUCCESS");
      m.pass();
      m.say("BMC: first off fails");
      m.job({ state: "failed", problem: "connection refused" });
      m.pass();
      m.minutes(6);
      m.pass();
      m.say("BMC: off");
      m.job({ state: "completed" });
      if (m.cluster)
        m.cluster.pods = [
          {
            namespace: "default",
            name: "web",
            uid: "p1",
            node: "w1",
            phase: "Running",
            terminating: false,
            mirror: false,
            daemonSet: false,
          },
        ];
      m.pass();
      m.pass();
      if (m.cluster) m.cluster.pods = [];
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "offline-by-hand-is-not-erased",
    tell: () => {
      const m = retiring();
      m.agent(1, "FAILED", "FAILED");
      m.pass();
      m.owner({ status: "offline" }, "dddddddd-0000-4000-8000-00000000000d");
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "retirement-fails-and-backs-off",
    tell: () => {
      const m = retiring();
      m.agent(1, "FAILED", "FAILED");
      m.pass();
      m.pass();
      m.minutes(6);
      m.pass();
      return m;
    },
  },
  {
    name: "quarantine-and-back",
    tell: () => {
      const m = installed();
      m.lines.length = 0;
      attests(m, "fail", ["authority-not-accepted"]);
      m.pass();
      m.say("the node undoes its own cordon");
      if (m.cluster?.node) m.cluster.node = { ...m.cluster.node, unschedulable: false };
      m.pass();
      attests(m, "pass");
      m.pass();
      return m;
    },
  },
  {
    name: "second-key-for-the-token",
    tell: () => {
      const m = new Model();
      m.owner({ status: "planned" }, "aaaaaaaa-0000-4000-8000-00000000000b");
      m.changes = (m.changes ?? []).map((c) => ({ ...c, action: "create" as const, before: null }));
      attests(m, "pass");
      m.pass("confirm");
      minted(m);
      m.agent(6, "SUCCESS");
      m.pass();
      reads(m);
      kubeletAsks(m, { commonName: "system:node:w2", name: "other-node" });
      kubeletAsks(m);
      m.pass();
      m.node();
      kubeletAsks(m, { spki: "k2", name: "node-csr-2" });
      m.pass();
      m.pass();
      return m;
    },
  },
];
