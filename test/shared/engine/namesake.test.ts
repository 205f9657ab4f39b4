import { expect, it } from "vitest";
import { pass } from "../../../shared/engine/pass.ts";
import { type CsrView, KUBELET_SIGNER } from "../../../shared/fleet/cluster.ts";
import { numbered, timedWorld } from "./world.ts";

const MINUTE = 60_000;

function aCsr(node: string, createdAtMs: number): CsrView {
  const request = {
    commonName: `system:node:${node}`,
    organizations: ["system:nodes"],
    ...{ otherSubject: false, hasSan: false, keyType: "EC" as const, spkiSha256: "k1" },
  };
  const meta = { name: "node-csr-1", uid: "csr-1", resourceVersion: "1", createdAtMs };
  const asked = { username: "system:bootstrap:others", groups: [], usages: ["client auth", "digital signature"] };
  return { ...meta, ...asked, signerName: KUBELET_SIGNER, decision: "pending", request };
}

it.each([
  ["another device has its name: that one's Node stays", "w8", true, true],
  ["another device has its name: that one's first CSR stays", "w8", false, true],
  ["nobody else has it: the Node of its name goes", "w9", true, false],
  ["nobody else has it: a CSR of its name goes", "w9", false, false],
])("a device that was never installed is set offline by hand; %s", async (_title, othersName, joined, stays) => {
  const t = await timedWorld();
  const { world } = t;
  world.netbox.declare(numbered(8));
  world.netbox.declare(numbered(9, { name: othersName }));
  await pass(world);
  const createdAtMs = world.clock.nowMs();
  const node = { name: "w8", uid: "node-1", unschedulable: false, taints: [], annotations: {}, createdAtMs };
  if (joined) world.cluster.nodeList = [node];
  else world.cluster.csrList = [aCsr("w8", createdAtMs)];
  for (const status of ["decommissioning", "offline"]) {
    t.pass(MINUTE);
    world.netbox.owner(8, { status });
    for (let n = 0; n < 3; n++) await pass(world);
  }
  if (joined) expect(await world.cluster.nodes(["w8"])).toEqual(stays ? [node] : []);
  else expect((await world.cluster.csrs()).length).toBe(stays ? 1 : 0);
  expect((await t.record(8)).retire?.offlineAtMs).not.toBeNull();
});
