import { expect, it } from "vitest";
import { boxed, expectRefused } from "./box.ts";

const box = boxed();

it.each([
  ["no JSON", "x"],
  ["no object", "[]"],
  ["no command line", "{}"],
  ["a command line that is no text", '{"commandLine":1}'],
  ["a command line beyond any kernel's", JSON.stringify({ commandLine: "x".repeat(4097) })],
])("a report that is %s, though the LAK signed it: 400, and the session is spent", async (_what, report) => {
  const { node, world } = box();
  const before = await world.record();
  const request = await node.request(await node.begun(), node.ldevid, { report: Buffer.from(report) });
  expectRefused(await node.evidence(request), 400, "bad-request");
  expectRefused(await node.evidence(request), 401, "session-used");
  const after = await world.record();
  expect([after.identity, after.verdict, after.quarantine]).toEqual([before.identity, before.verdict, null]);
});

it("a report with more than the command line: the rest is ignored", async () => {
  const { node } = box();
  const report = Buffer.from(JSON.stringify({ commandLine: node.commandLine, more: [1] }));
  const request = await node.request(await node.begun(), node.ldevid, { report });
  expect((await node.evidence(request)).status).toBe(200);
});
