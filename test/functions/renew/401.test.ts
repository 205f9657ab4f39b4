import { expect, test } from "vitest";
import { boxed, expectRefused } from "./box.ts";
import { post } from "./node.ts";

const box = boxed({ durations: { sessionMs: 1_000 } });

test("session-used: the same token again, whether it renewed or was refused", async () => {
  const { node } = box();
  const request = await node.request(await node.begun());
  expect((await node.evidence(request)).status).toBe(200);
  expectRefused(await node.evidence(request), 401, "session-used");
  const other = await node.request(await node.begun());
  expectRefused(await node.evidence({ ...other, pcrs: {} }), 403, "quote-invalid");
  expectRefused(await node.evidence(other), 401, "session-used");
});

test("session-used: a renewal's token at the device listener, which spends it", async () => {
  const { node, world } = box();
  const request = await node.request(await node.begun());
  const signature = request.signature;
  const answer = await post(world.device, "/attest/v1/confirm", { session: request.session, signature });
  expectRefused(answer, 401, "session-used");
  expectRefused(await node.evidence(request), 401, "session-used");
});

test("session-expired: after its time, and what is no token", async () => {
  const { node } = box();
  const request = await node.request(await node.begun());
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  expectRefused(await node.evidence(request), 401, "session-expired");
  expectRefused(await node.evidence({ ...request, session: "a.b.c.d.e" }), 401, "session-expired");
});

test("renewal needs no credential of an administrator, adoption does", async () => {
  const { node, world } = box();
  expect((await node.begin()).status).toBe(200);
  const body = { certificates: node.certificates.ldevid + node.certificates.lak };
  expectRefused(await post(world.admin, "/devices/w1/adopt", body), 401, "unauthorized");
  const device = await post(world.device, "/renew/v1/begin", node.certificates);
  expectRefused(device, 404, "not-found");
});
