import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyBundle } from "../../shared/attest/bundle.ts";
import { type BootPolicyProfile, loadProfile } from "../../shared/attest/profile.ts";
import type { Verdict } from "../../shared/attest/verdict.ts";
import { CHANGES, MORE } from "./changes.ts";
import { attest, type Change } from "./session.ts";
import { extendsOf, manifestFiles, type RecordedSet, recordedLog, recordedSet } from "./sets.ts";
import { SoftwareTpm } from "./software.ts";
import { RecordedWorld } from "./world.ts";

interface Kept {
  readonly title: string;
  readonly set: RecordedSet;
  readonly change: Change;
  readonly extended: Uint8Array;
}

const honest = manifestFiles("ok-").filter((file) => !(file in CHANGES));
const judged = Object.entries({ ...CHANGES, ...MORE }).filter(
  ([, { answer }]) => answer[0] !== "begin" && answer[2] !== "quote-invalid",
);
/** Every session whose evidence comes as far as the log: those are kept. */
const KEPT: readonly Kept[] = [
  ...honest.map((file): Kept => {
    const set = recordedSet(file);
    return { title: file, set, change: {}, extended: set.eventLog };
  }),
  ...judged.map(([title, { of, extended, accepted, secureBoot, change }]): Kept => {
    const set = { ...recordedSet(of), profile: recordedSet(accepted ?? of).profile };
    const log = extended === undefined ? set.eventLog : recordedLog(extended);
    return { title, set: { ...set, ...(secureBoot && { secureBoot }) }, change, extended: log };
  }),
];

function profileOf(json: unknown): BootPolicyProfile {
  const loaded = loadProfile(json);
  if (!loaded.ok) throw new Error(loaded.problem);
  return loaded.profile;
}

function stranger(bank: string): BootPolicyProfile {
  const authorities = [{ sha256: "ab".repeat(32), subject: "CN=Another", for: ["hookos"] }];
  return profileOf({ name: "stranger", bank, authorities });
}

describe("the evidence that the handler keeps", () => {
  let tpm: SoftwareTpm;
  beforeAll(async () => {
    tpm = await SoftwareTpm.open();
  });
  afterAll(async () => {
    await tpm.close();
  });

  /** The one bundle of a session, as its file has it. */
  const bundleOf = async ({ set, change, extended }: Kept, unknownClass = false) => {
    await tpm.powerOn(extendsOf(extended));
    const world = await RecordedWorld.start(
      set,
      tpm.eks.map((ek) => ek.digest),
    );
    if (unknownClass) world.deps.world.netbox.owner(7, { fleetClass: "nothing-known" });
    await attest(world.url, { tpm, keys: tpm.keys(), eventLog: set.eventLog }, change);
    await world.close();
    expect(world.deps.world.evidence.length).toBe(1);
    const text = world.deps.world.evidence[0]?.json ?? "";
    return { text, bundle: JSON.parse(text) as { readonly verdict: Verdict } };
  };

  test.each(KEPT)("$title: the same verdict offline, bit for bit", async (kept) => {
    const { bundle } = await bundleOf(kept);
    const profiles = new Map([["recorded", profileOf(kept.set.profile)]]);
    const again = verifyBundle(bundle, { profiles });
    expect(again.verdict).toBe(bundle.verdict.result === "pass" ? "accepted" : "refused");
    expect(again.codes).toEqual(bundle.verdict.codes);
    // What was activated is no part of a bundle: its secrets are gone.
    const checks = bundle.verdict.checks.filter((check) => check.name !== "activations");
    expect(JSON.stringify({ ...again.boot, checks: again.checks })).toBe(JSON.stringify({ ...bundle.verdict, checks }));
  });

  test.each(KEPT.slice(0, honest.length))("$title: under a profile without its authorities", async (kept) => {
    const { bundle } = await bundleOf(kept);
    const again = verifyBundle(bundle, { profile: stranger(kept.set.bank) });
    const expected = kept.set.secureBoot === "required" ? ["refused", ["authority-not-accepted"]] : ["accepted", []];
    expect([again.verdict, again.codes]).toEqual(expected);
    // Without any profile all but the authorities is judged.
    expect(verifyBundle(bundle).verdict).toBe("accepted");
  });

  test("a byte of the kept log, quote, report or values that is another is refused", async () => {
    const { text } = await bundleOf(KEPT[0] as Kept);
    const bundle = JSON.parse(text) as Record<string, string> & { readonly quote: Record<string, string> };
    const changed = (base64: string | undefined) => {
      const bytes = Buffer.from(base64 ?? "", "base64");
      const at = bytes.length >> 1;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      return bytes.toString("base64");
    };
    const profiles = new Map([["recorded", profileOf(KEPT[0]?.set.profile)]]);
    const verdictOf = (change: object) => verifyBundle({ ...bundle, ...change }, { profiles }).codes;
    expect(verdictOf({})).toEqual([]);
    expect(verdictOf({ report: changed(bundle.report) })).toEqual(["quote-invalid"]);
    expect(verdictOf({ quote: { ...bundle.quote, attest: changed(bundle.quote.attest) } })).toEqual(["quote-invalid"]);
    expect(verdictOf({ quote: { ...bundle.quote, signature: changed(bundle.quote.signature) } })).toEqual([
      "quote-invalid",
    ]);
    expect(verdictOf({ pcrs: { sha256: { 0: "00".repeat(32) } } })).toEqual(["quote-invalid"]);
    expect(verdictOf({ certify: bundle.quote })).toEqual(["certify-invalid"]);
    expect(verdictOf({ eventLog: "" })).toEqual(["event-log-missing"]);
  });

  test.each(KEPT.slice(0, honest.length))("$title: of a class that nobody knows", async (kept) => {
    const { bundle } = await bundleOf(kept, true);
    expect(bundle.verdict.codes).toEqual(["profile-missing"]);
    const again = verifyBundle(bundle);
    const said = bundle.verdict.checks.filter((check) => !["profile", "activations"].includes(check.name));
    const open = ["profile", "recorded-verdict"];
    expect(again.checks.filter((check) => !open.includes(check.name))).toEqual(said);
    expect(again.checks.filter((check) => open.includes(check.name)).map((check) => check.seen)).toEqual([
      "none",
      "fail (profile-missing)",
    ]);
  });
});
