import { withHookosAgain } from "../../shared/fleet/plan/admit.ts";
import {
  aPod,
  attests,
  declared,
  erased,
  installed,
  kubeletAsks,
  minted,
  off,
  reads,
  request,
  retiring,
} from "./acts.ts";
import type { Model } from "./model.ts";
import type { Story } from "./stories.ts";

/** A wipe is running when its owner retires the device. */
function interrupted(bmcType: string | null): Model {
  const m = installed({ bmcType });
  m.owner({ desiredAction: "wipe" }, request(2));
  m.pass();
  m.agent(1, "RUNNING");
  m.pass();
  m.lines.length = 0;
  m.owner({ status: "decommissioning" }, request(9));
  m.pass();
  return m;
}

/** Installed by the agent's word, its configuration unread. */
function unread(): Model {
  const m = declared();
  attests(m);
  m.pass("confirm");
  minted(m);
  m.agent(6, "SUCCESS");
  m.pass();
  m.lines.length = 0;
  return m;
}

function power(m: Model, powerState: "on" | "off"): void {
  m.say(`Rufio: the machine is ${powerState}`);
  if (m.bootPlane !== null) m.bootPlane.machines = m.bootPlane.machines.map((b) => ({ ...b, powerState }));
}

/** Retirement in its branches, and what becomes of an unread configuration. */
export const retirementStories: readonly Story[] = [
  {
    name: "retirement-stops-a-run",
    tell: () => {
      const m = interrupted("redfish");
      m.pass();
      m.say("BMC: off");
      m.job({ state: "completed" });
      m.pass();
      return m;
    },
  },
  {
    name: "retirement-waits-for-a-run-without-a-bmc",
    tell: () => {
      const m = interrupted(null);
      m.pass();
      m.agent(2, "SUCCESS");
      m.pass();
      m.agent(4, "SUCCESS");
      m.pass();
      return m;
    },
  },
  {
    name: "retirement-backs-off-to-four-hours",
    tell: () => {
      const m = retiring();
      for (let n = 1; n <= 7; n++) {
        m.agent(1, "FAILED", "FAILED");
        m.pass();
        const waitMs = (m.record.retire?.nextTryAtMs ?? 0) - m.nowMs;
        m.say(`${waitMs / 60_000} minutes later`);
        m.nowMs += waitMs;
        m.pass();
      }
      return m;
    },
  },
  {
    name: "off-evidence-is-void",
    tell: () => {
      const m = erased();
      m.lines.length = 0;
      if (m.cluster) m.cluster.pods = [aPod("web")];
      m.say("BMC: off");
      m.job({ state: "completed" });
      m.pass();
      power(m, "off");
      m.pass();
      power(m, "on");
      m.pass();
      m.minutes(16);
      m.pass();
      return m;
    },
  },
  {
    name: "drain-clock-across-restarts-and-an-api-that-is-down",
    tell: () => {
      const m = erased();
      m.lines.length = 0;
      if (m.cluster) m.cluster.pods = [aPod("web"), aPod("ds", { daemonSet: true })];
      m.say("BMC: off");
      m.job({ state: "completed" });
      m.pass();
      m.say("fleetd is restarted: all that is kept is the record");
      m.record = JSON.parse(JSON.stringify(m.record));
      m.minutes(4);
      m.pass();
      m.say("the workload cluster's API is down");
      const { cluster } = m;
      m.cluster = null;
      m.minutes(4);
      m.pass();
      m.say("it answers again");
      m.cluster = cluster;
      m.pass();
      m.minutes(1);
      m.pass();
      return m;
    },
  },
  {
    name: "retired-and-planned-again",
    tell: () => {
      const m = off();
      m.pass();
      m.lines.length = 0;
      m.owner({ status: "planned" }, request(11));
      m.pass();
      attests(m);
      m.pass("confirm");
      return m;
    },
  },
  {
    name: "booted-hookos-after-install",
    tell: () => {
      const m = unread();
      attests(m);
      m.pass("confirm");
      m.record = withHookosAgain(m.record, m.nowMs);
      m.pass();
      m.pass();
      m.say("the boot order is mended");
      reads(m);
      m.pass();
      return m;
    },
  },
  {
    name: "config-never-read",
    tell: () => {
      const m = unread();
      m.minutes(60);
      m.pass();
      m.say("seven days after SUCCESS");
      m.minutes(7 * 1440);
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "config-removed-on-leaving-planned",
    tell: () => {
      const m = unread();
      m.owner({ status: "offline" }, request(2));
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "csr-traps",
    tell: () => {
      const m = unread();
      reads(m);
      m.pass();
      m.lines.length = 0;
      kubeletAsks(m, { name: "other-node", commonName: "system:node:w2" });
      kubeletAsks(m, { name: "masters", organizations: ["system:nodes", "system:masters"] });
      kubeletAsks(m, { name: "wide", username: "system:bootstrap:wide00" });
      m.pass();
      kubeletAsks(m);
      m.pass();
      m.minutes(1);
      m.pass();
      return m;
    },
  },
  {
    name: "quarantine-of-a-control-plane",
    tell: () => {
      const m = installed();
      const { installed: inst } = m.record;
      if (inst === null) throw new Error("not installed");
      m.pass();
      m.lines.length = 0;
      m.say("the device was installed as a control plane");
      const cls = { ...inst.class, class: { ...inst.class.class, workload: "controlplane" as const } };
      m.classes = { ...m.classes, "talos-worker": cls.class };
      m.record = { ...m.record, installed: { ...inst, class: cls } };
      attests(m, "fail", ["authority-not-accepted"]);
      m.pass();
      m.pass();
      return m;
    },
  },
];
