import { beforeEach, expect, test } from "vitest";
import { attest } from "../../recorded/session.ts";
import { boxed, expectRefused } from "./box.ts";
import { enrolling } from "./node-tpm.ts";
import type { RenewWorld } from "./world.ts";

const box = boxed();
let texts: RenewWorld["deps"]["world"]["policyTexts"];
beforeEach(() => {
  const { world } = box().world.deps;
  texts ??= world.policyTexts;
  world.policyTexts = texts;
});

/** An edit of the class's profile in git, seen at once. */
function edits(change: object): void {
  const apart = texts.profiles.apart as object;
  box().world.deps.world.policyTexts = { ...texts, profiles: { ...texts.profiles, apart: { ...apart, ...change } } };
}
const markers = { hookosMarker: "fleet_stage=hookos", osMarker: "fleet_stage=os" };
const both = () => {
  const { authorities } = texts.profiles.apart as { authorities: readonly { pem: string }[] };
  return { authorities: authorities.map((one) => ({ ...one, for: ["hookos", "os"] })), ...markers };
};

test.each([
  ["another bank", () => ({ bank: "sha384" })],
  ["one PCR more", both],
])("a profile that asks for %s since begin: begin again, nothing judged", async (_what, change) => {
  const { node, world } = box();
  const request = await node.request(await node.begun());
  const before = await world.record();
  const bundles = world.bundles().length;
  edits(change());
  expectRefused(await node.evidence(request), 401, "session-expired");
  expect(await world.record()).toEqual(before);
  expect(world.bundles()).toHaveLength(bundles);
  world.deps.world.policyTexts = texts;
  await node.renewed();
});

test("an edit that asks for the same quote is judged by at once", async () => {
  const { node } = box();
  const request = await node.request(await node.begun());
  edits({ requiredEvents: [], authorities: both().authorities.slice(0, 1), ...markers, bank: "sha256" });
  const { status, body } = await node.evidence(request);
  // One list for both kinds overlaps, so it asks for PCR 9 too: another quote.
  expect([status, body.code]).toEqual([401, "session-expired"]);
  const again = await node.request(await node.begun());
  edits({ ...both(), authorities: both().authorities.slice(0, 1) });
  expect((await node.evidence(again)).body.code).toBe("authority-not-accepted");
});

test("in HookOS too: evidence of a session from before the edit quarantines nobody", async () => {
  const { node, tpm, world } = box();
  await node.boot("hookos", world.hookosCommandLine);
  const before = await world.record();
  const machine = {
    tpm: {
      ...enrolling(tpm, node.ldevid),
      // Between begin and evidence.
      quote: async (...asked: Parameters<ReturnType<typeof enrolling>["quote"]>) => {
        edits({ bank: "sha384" });
        return enrolling(tpm, node.ldevid).quote(...asked);
      },
    },
    keys: { ak: node.lak, otherAk: node.lak, ldevid: node.ldevid },
    eventLog: node.eventLog,
    report: { commandLine: node.commandLine, lldp: null },
  };
  const refused = await attest(world.device, machine);
  expect([refused.step, refused.status, refused.code]).toEqual(["evidence", 401, "session-expired"]);
  expect(await world.record()).toEqual(before);
});
