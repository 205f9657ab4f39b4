import { newRecord } from "../../shared/fleet/record.ts";
import { attests, declared, goneWalk, installed, minted, request } from "./acts.ts";
import { CLASSES } from "./fixtures.ts";
import { Model } from "./model.ts";
import type { Story } from "./stories.ts";

/** An installed device at rest, its earlier lines gone. */
function atRest(): Model {
  const m = installed();
  m.pass();
  m.lines.length = 0;
  return m;
}

/** Requests: what begins them, what holds them, what becomes of them. */
export const requestStories: readonly Story[] = [
  {
    name: "same-request-again-and-another",
    tell: () => {
      const m = atRest();
      m.owner({ desiredAction: "wipe" }, request(2));
      m.pass();
      m.owner({ desiredAction: "wipe" }, request(3));
      m.changes = (m.changes ?? []).map((c, i) =>
        i === 0 && c.before !== null ? { ...c, before: { ...c.before, desiredAction: null } } : c,
      );
      m.pass();
      m.owner({ desiredAction: "attest" }, request(4));
      m.pass();
      m.pass();
      m.agent(2, "SUCCESS");
      m.pass();
      return m;
    },
  },
  {
    name: "wipe-of-an-active-device",
    tell: () => {
      const m = atRest();
      m.owner({ desiredAction: "wipe" }, request(2));
      m.pass();
      m.agent(1, "RUNNING");
      m.pass();
      m.agent(2, "SUCCESS");
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "class-and-pin-gates",
    tell: () => {
      const m = declared({ fleetClass: "control-plane" });
      const worker = CLASSES["talos-worker"];
      if (worker === undefined) throw new Error("no class");
      const { installer: _, ...unpinned } = worker;
      m.classes = { ...CLASSES, "control-plane": { ...unpinned, workload: "controlplane" } };
      m.owner({ desiredAction: "provision" }, request(2));
      m.pass();
      m.say("git: the class has a pin");
      m.classes = { ...CLASSES, "control-plane": { ...worker, workload: "controlplane" } };
      m.pass();
      m.say("FLEET_CONTROL_PLANES=true");
      m.settings = { ...m.settings, controlPlanes: true };
      m.pass();
      m.say("owner: cluster_token_approved");
      m.write({ clusterTokenApproved: true });
      m.pass();
      m.say("git: the class is edited while its run waits");
      m.classes = { ...CLASSES, "control-plane": { ...unpinned, workload: "controlplane" } };
      m.pass();
      return m;
    },
  },
  {
    name: "slots-full",
    tell: () => {
      const m = atRest();
      m.say("five other devices have a disk run");
      m.fleet = {
        ...m.fleet,
        slots: [1, 2, 3, 4, 5].map((deviceId) => ({ deviceId, run: `f${deviceId}`, sinceMs: 0 })),
      };
      m.owner({ desiredAction: "provision" }, request(2));
      m.pass();
      m.pass();
      m.say("one of them has ended");
      m.fleet = { ...m.fleet, slots: m.fleet.slots.slice(1) };
      m.pass();
      return m;
    },
  },
  {
    name: "deadline-while-running",
    tell: () => {
      const m = new Model({ bmcType: null });
      m.owner({ desiredAction: "wipe" }, request(1));
      m.pass();
      m.pass();
      m.agent(1, "RUNNING");
      m.pass();
      m.say("the agent is silent for longer than the Template's timeout and 15 minutes");
      m.minutes(76);
      m.pass();
      m.owner({ desiredAction: "wipe" }, request(2));
      m.pass();
      m.minutes(1);
      attests(m);
      m.pass();
      return m;
    },
  },
  {
    name: "orphan-adopted",
    tell: () => {
      const m = new Model();
      m.owner({ desiredAction: "wipe" }, request(1));
      m.pass();
      m.agent(1, "RUNNING");
      m.pass();
      m.say("fleetd's record is lost");
      m.record = newRecord(7, "w1");
      m.pass();
      m.agent(2, "SUCCESS");
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "inventory-went-back",
    tell: () => {
      const m = atRest();
      m.owner({ desiredAction: "wipe", protected: true }, request(2));
      const row = m.device;
      const log = m.changes;
      m.pass();
      m.owner({ desiredAction: null, protected: false }, request(3));
      m.pass();
      m.say("NetBox is restored to before that, with the protection off");
      m.device = { ...row, protected: false, shown: { ...row.shown, fleetRun: null } };
      m.changes = log;
      m.pass();
      m.pass();
      m.owner({ desiredAction: null }, request(4));
      m.owner({ desiredAction: "wipe" }, request(5));
      m.pass();
      return m;
    },
  },
  {
    name: "planned-again",
    tell: () => {
      const m = atRest();
      m.owner({ status: "planned" }, request(2));
      m.pass();
      m.pass();
      attests(m);
      m.pass("confirm");
      return m;
    },
  },
  {
    name: "status-overwritten-by-an-older-row",
    tell: () => {
      const m = atRest();
      m.owner({ desiredAction: "provision" }, request(2));
      m.pass();
      attests(m);
      m.pass("confirm");
      minted(m);
      m.say("somebody's older row is saved over ours: active");
      m.write({ status: "active" });
      m.pass();
      return m;
    },
  },
  {
    name: "gone-with-a-run",
    tell: () => {
      const m = atRest();
      m.owner({ desiredAction: "wipe" }, request(2));
      m.pass();
      m.agent(1, "RUNNING");
      m.pass();
      goneWalk(m);
      m.say("BMC: off");
      m.job({ state: "completed" });
      goneWalk(m);
      goneWalk(m);
      return m;
    },
  },
];
