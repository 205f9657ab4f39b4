import { describe, expect, it } from "vitest";
import { stepWords } from "../../../shared/fleet/plan/step-words.ts";
import { newRecord } from "../../../shared/fleet/record.ts";
import type { Step } from "../../../shared/fleet/step.ts";
import { request } from "../../scenarios/acts.ts";
import { Model } from "../../scenarios/model.ts";

/** A Model that keeps each step in words, with the record before it. */
class Told extends Model {
  readonly words: string[] = [];
  override apply(step: Step): void {
    this.words.push(stepWords(step, this.record));
    super.apply(step);
  }
}

describe("a plan in words", () => {
  it("names disk and objects of a wipe, from the slot to the cleared field", () => {
    const m = new Told();
    m.owner({ desiredAction: "wipe" }, request(1));
    m.pass();
    const name = "f7-wipe-00000001aaaa-1";
    const disk = "on disk nvme0n1 (serial S4XYNX0R123456)";
    expect(m.words).toEqual(
      expect.arrayContaining([
        `takes a slot for disk runs, for ${name}`,
        expect.stringContaining(`writes down the new run ${name}: wipe ${disk}`),
        "writes Hardware f7: the machine may netboot",
        `creates Workflow ${name} of Template wipe ${disk}, disabled; the BMC will netboot the machine`,
        `enables Workflow ${name}: the machine may carry it out ${disk}`,
        expect.stringMatching(/^in NetBox: .*clears desired_action/),
      ]),
    );
  });

  it.each<[Step, string]>([
    [
      { do: "create-token", token: { id: "abcdef", deviceId: 7, node: "w1", expiresAtMs: 1 }, secret: "hush-hush" },
      "makes the node's bootstrap token",
    ],
    [{ do: "delete-token", id: "abcdef" }, "deletes bootstrap token abcdef"],
    [{ do: "drop-config", deviceId: 7, consumed: false }, "deletes the stored configuration"],
    [
      { do: "journal", id: 7, level: "danger", text: "words [fleetd 0123456789abcdef]", mark: "", lookFirst: false },
      "in NetBox's journal, as danger: words",
    ],
    [
      {
        do: "patch-node",
        name: "w1",
        uid: "u",
        patch: { unschedulable: true, quarantineTaint: true, cordonReason: "quarantine" },
      },
      "cordons and taints Node w1",
    ],
    [
      { do: "patch-device", id: 7, lastUpdated: "", patch: { status: "offline", fleetRun: { run: "r" } } },
      "in NetBox: sets status to offline, shows fleet_run",
    ],
    [{ do: "remove-object", kind: "Job", name: "f7-off-1", uid: "u" }, "deletes Job f7-off-1"],
  ])("%j", (step, words) => {
    expect(stepWords(step, newRecord(7, "w1"))).toBe(words);
  });
});
