import { describe, expect, test } from "vitest";
import { boxed, expectRefused } from "./box.ts";

const box = boxed({ limits: { beginPerMinute: 3 } });

test("begin as often a minute as FLEET_RATE_BEGIN says, evidence twice as often; the answers are counted", async () => {
  const { node, world } = box();
  const begun = await node.begun();
  await node.begun();
  await node.begun();
  const refused = await node.begin();
  expectRefused(refused, 429, "rate-limited");
  expect(refused.retryAfter).toBe("60");
  const request = await node.request(begun);
  expect((await node.evidence(request)).status).toBe(200);
  for (let i = 0; i < 5; i++) expectRefused(await node.evidence(request), 401, "session-used");
  expectRefused(await node.evidence(request), 429, "rate-limited");
  const { answers } = world.deps;
  expect(answers.filter((one) => one === "renew-begin ok")).toHaveLength(3);
  expect(answers).toEqual(expect.arrayContaining(["renew-evidence ok", "renew-evidence session-used"]));
});

describe("the interval between two renewals", () => {
  const patient = boxed({ durations: { renewIntervalMs: 3_600_000 } });

  test("earlier: judged and recorded, nothing issued, told when to come again", async () => {
    const { node, world } = patient();
    const { identity } = await world.record();
    if (identity === null) throw new Error("no identity");
    const early = await node.renewal();
    expectRefused(early, 429, "rate-limited");
    expect(early.body).toMatchObject({ verdict: { result: "pass" } });
    const left = (identity.issuedAtMs + 3_600_000 - Date.now()) / 1000;
    expect(Number(early.retryAfter)).toBeGreaterThan(left - 5);
    expect(Number(early.retryAfter)).toBeLessThan(left + 5);
    const after = await world.record();
    expect([after.identity, after.verdict?.by]).toEqual([identity, "renewal"]);
  });

  test("once it is over: one renewal; a lost answer is made good at once, the renewed one waits again", async () => {
    const { node, world } = patient();
    const { identity } = await world.record();
    if (identity === null) throw new Error("no identity");
    await world.change({ identity: { ...identity, issuedAtMs: Date.now() - 3_600_000 } });
    expect((await node.renewal()).status).toBe(200);
    await node.renewed();
    expectRefused(await node.renewal(), 429, "rate-limited");
  });
});
