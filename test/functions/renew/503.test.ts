import { expect, it, test } from "vitest";
import { PortError } from "../../../shared/ports/error.ts";
import { boxed, expectRefused } from "./box.ts";

const box = boxed();

it.each([
  ["netbox", "inventory-unavailable"],
  ["records", "boot-plane-unavailable"],
] as const)("without %s: begin and evidence say %s, and a new session renews", async (port, code) => {
  const { node, world } = box();
  const peer = world.deps.world[port];
  const request = await node.request(await node.begun());
  const before = await world.record();
  peer.down = true;
  const began = await node.begin();
  const answer = await node.evidence(request);
  peer.down = false;
  expectRefused(began, 503, code);
  expectRefused(answer, 503, code);
  expect([began.retryAfter, answer.retryAfter]).toEqual(["10", "10"]);
  expect(await world.record()).toEqual(before);
  // The token was spent before anything was looked at.
  expectRefused(await node.evidence(request), 401, "session-used");
  await node.renewed();
});

test("without the store nothing is verified: a token is never thought unused", async () => {
  const { node, world } = box();
  const request = await node.request(await node.begun());
  const { store } = world.deps.world;
  const { setOnce } = store;
  Object.assign(store, { setOnce: () => Promise.reject(new PortError("unavailable", "store", "no answer")) });
  const answer = await node.evidence(request);
  Object.assign(store, { setOnce });
  expectRefused(answer, 503, "store-unavailable");
});

test("without the signer: judged and told, the identity stays, and the next session renews", async () => {
  const { node, world } = box();
  const request = await node.request(await node.begun());
  const { signer } = world.deps.world;
  const { sign } = signer;
  const { identity } = await world.record();
  Object.assign(signer, { sign: () => Promise.reject(new PortError("unavailable", "signer", "the queue is full")) });
  const answer = await node.evidence(request);
  Object.assign(signer, { sign });
  expectRefused(answer, 503, "signer-unavailable");
  expect(await world.record()).toMatchObject({ identity, verdict: { result: "pass", by: "renewal" } });
  await node.renewed();
});

test("a record that was written though its API said nothing: the node renews with what it still has", async () => {
  const { node, world } = box();
  const { records } = world.deps.world;
  const { put } = records;
  const before = await world.record();
  let writes = 0;
  Object.assign(records, {
    put: async (...args: Parameters<typeof put>) => {
      const stored = await put.apply(records, args);
      // The second write of a renewal is the identity's.
      if (++writes === 2) throw new PortError("unavailable", "records", "no answer");
      return stored;
    },
  });
  const answer = await node.renewal();
  Object.assign(records, { put });
  expectRefused(answer, 503, "boot-plane-unavailable");
  const written = await world.record();
  expect(written.identity?.ldevid.serialNumber).not.toBe(before.identity?.ldevid.serialNumber);
  expect(written.replacedIdentity).toMatchObject({ ldevid: before.identity?.ldevid });
  await node.renewed();
  await node.renewed();
  expect((await world.record()).replacedIdentity).not.toMatchObject({ ldevid: before.identity?.ldevid });
});

test("evidence that cannot be kept stops no renewal", async () => {
  const { node, world } = box();
  const { files } = world.deps.world;
  const { writeEvidence } = files;
  Object.assign(files, { writeEvidence: () => Promise.reject(new PortError("rejected", "files", "the disk is full")) });
  const answer = await node.renewal();
  Object.assign(files, { writeEvidence });
  expect(answer.status).toBe(200);
  expect(world.deps.lines.join("\n")).toContain("evidence not kept");
});
