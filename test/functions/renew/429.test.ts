import { expect, test } from "vitest";
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
