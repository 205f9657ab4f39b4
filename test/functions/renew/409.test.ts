import { describe, expect, it, test } from "vitest";
import { aDevice } from "../../scenarios/fixtures.ts";
import { boxed, expectRefused } from "./box.ts";
import type { Body, Node } from "./node.ts";
import { ID, type RenewWorld } from "./world.ts";

const box = boxed();

interface Case {
  readonly code: string;
  /** Where begin already says so. */
  readonly atBegin: boolean;
  readonly change: (world: RenewWorld) => Promise<unknown> | unknown;
}

const owner = (change: Parameters<RenewWorld["deps"]["world"]["netbox"]["owner"]>[1]) => (world: RenewWorld) =>
  world.deps.world.netbox.owner(ID, change);
const EK = { digest: `sha256:${"e".repeat(64)}`, source: "SCAN:2" };
const row = (change: object) => ({ ...aDevice(), id: 8, name: "w2", serial: "SN0002", approvedEks: [], ...change });

describe("evidence says no to an honest node", () => {
  it.each<[string, Case]>([
    ["that is planned", { code: "not-expected", atBegin: true, change: owner({ status: "planned" }) }],
    ["that is decommissioning", { code: "not-expected", atBegin: true, change: owner({ status: "decommissioning" }) }],
    ["that is offline", { code: "not-expected", atBegin: true, change: owner({ status: "offline" }) }],
    [
      "of a status that fleetd does not know",
      { code: "not-expected", atBegin: true, change: owner({ status: "failed" }) },
    ],
    [
      "that no served configuration backs",
      { code: "not-expected", atBegin: true, change: (world) => world.change({ installed: null }) },
    ],
    ["whose approved EKs changed", { code: "identity-changed", atBegin: true, change: owner({ approvedEks: [EK] }) }],
    ["whose approved EKs are gone", { code: "identity-changed", atBegin: true, change: owner({ approvedEks: null }) }],
    ["whose serial changed", { code: "identity-changed", atBegin: false, change: owner({ serial: "SN0009" }) }],
    [
      "whose approved EKs changed, and whose record says that they passed",
      {
        code: "identity-changed",
        atBegin: false,
        change: async (world) => {
          world.deps.world.netbox.owner(ID, { approvedEks: [EK] });
          await world.change({ passedEks: [EK.digest] });
        },
      },
    ],
    [
      "whose EKs git does not pin",
      {
        code: "ek-not-pinned",
        atBegin: false,
        change: ({ deps }) => {
          deps.world.policyTexts = { ...deps.world.policyTexts, ekPins: { w1: [EK.digest] } };
        },
      },
    ],
    [
      "that shares its serial",
      {
        code: "inventory-conflict",
        atBegin: false,
        change: ({ deps }) => deps.world.netbox.declare(row({ serial: aDevice().serial.toLowerCase() })),
      },
    ],
    [
      "that was renamed, and whose name another device has now",
      {
        code: "inventory-conflict",
        atBegin: false,
        change: ({ deps }) => {
          deps.world.netbox.owner(ID, { name: "w9" });
          deps.world.netbox.declare(row({ name: "w1" }));
        },
      },
    ],
  ])("%s", async (_which, { code, atBegin, change }) => {
    const { node, world } = box();
    const request = await node.request(await node.begun());
    const { identity, verdict } = await world.record();
    await change(world);
    if (atBegin) expectRefused(await node.begin(), 409, code);
    const kept = world.bundles().length;
    const answer = await node.evidence(request);
    world.deps.world.policyTexts = { ...world.deps.world.policyTexts, ekPins: null };
    world.deps.world.netbox.declare(row({ status: "offline" }));
    expectRefused(answer, 409, code);
    expect(answer.retryAfter).toBe("30");
    const after = await world.record();
    expect([after.identity, after.verdict, after.quarantine]).toEqual([identity, verdict, null]);
    expect(world.bundles().length).toBe(kept);
  });

  it("and its owner reads why in a condition, until it renews", async () => {
    const { node, world } = box();
    const request = await node.request(await node.begun());
    world.deps.world.netbox.owner(ID, { serial: "SN0009" });
    const { body } = await node.evidence(request);
    await world.pass();
    const [waits] = (await world.record()).conditions.filter((one) => one.type === "MachineWaits");
    expect(waits).toMatchObject({ reason: "identity-changed", message: `${body.detail}; then it renews by itself` });
    world.deps.world.netbox.owner(ID, { serial: "SN0001" });
    await node.renewed();
    await world.pass();
    expect((await world.record()).conditions.map((one) => one.type)).not.toContain("MachineWaits");
  });
});

test("a renamed node keeps the name that it was installed with", async () => {
  const { node, world } = box();
  world.deps.world.netbox.owner(ID, { name: "w9" });
  const { subject } = (await world.record()).identity ?? {};
  await node.renewed();
  expect((await world.record()).identity?.subject).toBe(subject);
});

describe("identity-changed: sessions of one node that overlap", () => {
  const two = async (node: Node): Promise<[Body, Body]> => [
    await node.request(await node.begun()),
    await node.request(await node.begun()),
  ];

  it("a request that comes late does not undo the renewal that overtook it", async () => {
    const { node, world } = box();
    const [late, first] = await two(node);
    const renewed = await node.evidence(first);
    expect(renewed.status).toBe(200);
    const { identity } = await world.record();
    expectRefused(await node.evidence(late), 409, "identity-changed");
    expect((await world.record()).identity).toEqual(identity);
    node.certificates = { ldevid: String(renewed.body.ldevid), lak: String(renewed.body.lak) };
    await node.renewed();
  });

  it("two at once: one renews, and what it was given counts", async () => {
    const { node, world } = box();
    const requests = await two(node);
    const answers = await Promise.all(requests.map((one) => node.evidence(one)));
    expect(answers.map((one) => one.status).sort()).toEqual([200, 409]);
    const won = answers.find((one) => one.status === 200);
    node.certificates = { ldevid: String(won?.body.ldevid), lak: String(won?.body.lak) };
    await node.renewed();
    expect((await world.record()).quarantine).toBeNull();
  });

  it("a verdict that turns to fail while the certificates are signed: nothing is written, nothing given", async () => {
    const { node, world } = box();
    const request = await node.request(await node.begun());
    const { signer } = world.deps.world;
    const { sign } = signer;
    const { identity } = await world.record();
    Object.assign(signer, {
      sign: async (tbs: Uint8Array) => {
        await world.change({ quarantine: { by: "renewal", sinceMs: 1, node: "w1" } });
        return sign(tbs);
      },
    });
    const answer = await node.evidence(request);
    Object.assign(signer, { sign });
    expectRefused(answer, 409, "identity-changed");
    expect((await world.record()).identity).toEqual(identity);
  });
});
