import { freezeClass } from "../../shared/fleet/class.ts";
import { acceptRequest } from "../../shared/fleet/held.ts";
import { afterIntake } from "../../shared/fleet/plan/quarantine.ts";
import { request } from "./acts.ts";
import { CLASSES } from "./fixtures.ts";
import { Model } from "./model.ts";
import type { Story } from "./stories.ts";

/** An administrator's word for what is held, by the route that fleetctl asks. */
function accepts(m: Model): void {
  const context = { changes: m.changes, netboxUser: "fleetd", epochMs: m.fleet.epochMs };
  const word = { kind: null, by: "alice", atMs: m.nowMs, madeId: request(0xacce) };
  const answer = acceptRequest(m.device, m.record, context, word);
  m.say(
    answer.ok ? `alice: fleetctl accept w1 (${answer.accepted.kind})` : `alice: fleetctl accept w1: ${answer.detail}`,
  );
  if (answer.ok) m.record = answer.record;
}

function memoryLost(m: Model): void {
  m.minutes(1);
  m.fleet = { ...m.fleet, epochMs: m.nowMs };
  m.say("fleetd's memory begins anew");
}

/** What waits for a person's word: held requests and failures of many at once. */
export const acceptStories: readonly Story[] = [
  {
    name: "held-wipe-accepted-once",
    tell: () => {
      const m = new Model();
      m.owner({ desiredAction: "wipe" }, request(1));
      memoryLost(m);
      m.pass();
      accepts(m);
      m.pass();
      m.pass();
      m.say("an older row is saved over: wipe stands there again, without an entry of its own");
      m.write({ desiredAction: "wipe" });
      m.agent(2, "SUCCESS", "PENDING");
      m.pass();
      m.pass();
      accepts(m);
      return m;
    },
  },
  {
    name: "accepted-without-an-entry",
    tell: () => {
      const m = new Model({ desiredAction: "attest" });
      m.say("NetBox has pruned its change log");
      m.pass();
      accepts(m);
      m.say("an owner changes the device before a pass has seen it");
      m.write({ protected: true });
      m.pass();
      accepts(m);
      m.pass();
      m.pass();
      return m;
    },
  },
  {
    name: "one-failure-among-many",
    tell: () => {
      const m = new Model({ status: "active" });
      const cls = freezeClass("talos-worker", CLASSES, null);
      if (cls === null) throw new Error("no class");
      m.record = { ...m.record, installed: { class: cls, servedAtMs: 1, run: "r", activatedAtMs: 1 } };
      m.node();
      m.pass();
      m.minutes(1);
      m.say("machine attests: fail, as six others did today");
      const verdict = {
        ...{ result: "fail" as const, by: "intake" as const, atMs: m.nowMs, codes: ["authority-not-accepted"] },
        ...{ dbxHash: "d1", sbatLevel: null },
      };
      m.record = afterIntake(m.record, m.device, verdict, { uuid: "u", massFailure: true });
      m.pass();
      m.pass();
      m.say("alice: fleetctl accept --failures");
      m.fleet = { ...m.fleet, acceptedFailures: { atMs: m.nowMs, by: "alice", devices: [7] } };
      m.pass();
      return m;
    },
  },
];
